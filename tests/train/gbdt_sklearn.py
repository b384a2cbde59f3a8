#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gbdt_sklearn.py BENCH_GBDT: boosted trees on the digits and on Friedman's problem are within half a point of scikit-learn's
(share of right classes, R²), learnt from the same rows."""
import json
import os
import subprocess
import sys

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/training/gbdt.py")
command = ["/usr/bin/python3", BENCH, sys.argv[1], "1", "digits", "friedman"]
run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
rows = [json.loads(line) for line in run.stdout.splitlines()]
worse = [r for r in rows if r["score"] < r["sklearn_score"] - 0.005]
for r in rows:
    print(f"{r['table']}: {r['score']:.4f}, scikit-learn {r['sklearn_score']:.4f}")
sys.exit(f"{len(worse)} worse by more than half a point" if worse or len(rows) != 2 else 0)
