#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gbdt.py BENCH_GBDT [ROUNDS] [TABLE…]: boosting of Falaj's in turns with scikit-learn's HistGradientBoosting, same rows, same
settings (100 rounds, 31 leaves, 255 bins, rate 0.1), the least of all rounds. One thread and processor time, what a busy machine
disturbs least; with FALAJ_BENCH_THREADS=2 two threads and wall time. A line of JSON for each table on standard output, the same
in words on standard error."""
import json
import os
import subprocess
import sys
import tempfile
import time

THREADS = int(os.environ.get("FALAJ_BENCH_THREADS", "1"))
os.environ["OMP_NUM_THREADS"] = str(THREADS)

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

HERE = os.path.dirname(os.path.abspath(__file__))
TREES = 100


def digits():
    return np.loadtxt(os.path.join(HERE, "../../../datasets/digits/digits.csv"), delimiter=",", skiprows=1), "class"


def friedman(rows=20000):
    """Friedman's first regression problem (1991): ten columns, of which five matter."""
    r = np.random.default_rng(1)
    x = r.random((rows, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4] + r.normal(size=rows)
    return np.column_stack([x, y]), "number"


def moons(rows=200000):
    """Two classes of 28 columns, as many as HIGGS has, some of them of few values, parted by a rough border."""
    r = np.random.default_rng(2)
    x = r.normal(size=(rows, 28))
    x[:, 20:] = np.round(x[:, 20:])
    z = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] - 0.5 * x[:, 3] ** 2 + x[:, 21] * (x[:, 4] > 0) + 0.5 * r.normal(size=rows)
    return np.column_stack([x, z > 0]), "class"


TABLES = {"digits": digits, "friedman": friedman, "moons": moons}


def theirs(table, kind, holdout):
    x, y = table[:, :-1].astype(np.float32), table[:, -1]
    keep = np.ones(len(y), bool)
    keep[holdout] = False
    make = HistGradientBoostingRegressor if kind == "number" else HistGradientBoostingClassifier
    model = make(max_iter=TREES, early_stopping=False)
    clock = time.process_time if THREADS == 1 else time.perf_counter
    began = clock()
    model.fit(x[keep], y[keep])
    took = clock() - began
    return took, model.score(x[~keep], y[~keep])


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for name in sys.argv[3:] or TABLES:
        table, kind = TABLES[name]()
        with tempfile.NamedTemporaryFile(suffix=".npy") as f:
            np.save(f, np.ascontiguousarray(table.astype(np.float32)))
            f.flush()
            ours = other = None
            for _ in range(rounds):
                command = [sys.argv[1], f.name, kind, str(TREES), str(THREADS)]
                run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                one = json.loads(run.stdout)
                ours = one if ours is None or one["seconds"] < ours["seconds"] else ours
                that = theirs(table, kind, one["holdout"])
                other = that if other is None or that[0] < other[0] else other
        ratio = other[0] / ours["seconds"]
        print(f"{name}: {ours['seconds']:.3f} s, score {ours['accuracy']:.4f}; "
              f"scikit-learn {sklearn.__version__} {other[0]:.3f} s, {other[1]:.4f}: ours is {ratio:.2f} times as fast, "
              f"{THREADS} thread(s)", file=sys.stderr, flush=True)
        print(json.dumps({"table": name, "threads": THREADS, "seconds": ours["seconds"], "score": ours["accuracy"],
                          "sklearn": sklearn.__version__, "sklearn_seconds": round(other[0], 4),
                          "sklearn_score": round(other[1], 6),
                          "times_sklearn": round(ratio, 3)}), flush=True)


main()
