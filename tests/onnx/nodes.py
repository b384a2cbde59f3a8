#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The node tests of the ONNX specification (Debian's python3-onnx) for every operator that docs/gen/onnx.md claims.

usage: nodes.py FALAJ_WORKER [-v] [--table FILE | --write FILE] [OPERATOR]…

--write writes the table of operators and cases (docs/gen/onnx_nodes.md), --table fails where FILE is another.

A case passes when its outputs are those of the specification, or when it is refused by a reason that is listed below: what is
beyond a stated limit. A refusal for another reason, a wrong number or a crash fails. Every claimed operator must have a case
that passes, or stand in NO_CASE."""
import collections, os, re, subprocess, sys, tempfile
import numpy as np

for name, plain in (("float", float), ("int", int), ("bool", bool), ("object", object)):
    if name not in np.__dict__:
        setattr(np, name, plain)
import onnx
from onnx.backend.test.case.node import collect_testcases

# Beyond the limits that the table states. The first that is in a message counts it as refused.
LIMITS = [
    "inputs are tensors of numbers", "of each are supported", "must be known",
    "whole numbers", "training", "is no constant", "transA 1", "a step of", "mean and deviation", "the last of equals",
        "a product of", "as many matrices", "more than one place",
    "axis 0, or", "axis 1, or", "indices that are computed", "is an input, a constant or another output",
        "it runs over the batch",
    "a tensor without numbers", "only constants of numbers", "what is expanded", "graphs inside", "dimension", "DOUBLE", "STRING",
    "a bound that is computed", "is split, or there are other parts", "is supported", "of 2 dimensions", "of 3 dimensions",
        "of 4 dimensions",
    "two strides", "images of a batch have 4", "with weights of images", "the same on all four sides", "dilations, or windows",
    "means that count the padding", "places as a second output", "numbers for an image",
    "from a floating-point type to", "a part without numbers", "cannot be named", "outside the file", "the type of input 0",
]
# Newer than Debian's package; a model without inputs; the specification has none.
NO_CASE = {"Gelu", "Range", *("ai.onnx.ml." + op for op in ("LinearClassifier", "LinearRegressor", "Normalizer", "Scaler",
                                                             "TreeEnsembleClassifier", "TreeEnsembleRegressor", "ZipMap"))}
SKIPPED = re.compile("BFLOAT16|test_constant$|default_mask")    # bf16 comes as u16 there; a model without inputs; a second output


def claimed():
    out = subprocess.run([sys.argv[1], "--print-onnx"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^\| `([A-Za-z.]+)`", out, re.M))


def fixed(case, keep):
    """The case with the inputs that are not in `keep` as constants of the model, as exporters write shapes, axes and weights."""
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    inputs = list(model.graph.input)
    del model.graph.input[:]
    left = []
    for i, (value, data) in enumerate(zip(inputs, case.data_sets[0][0])):
        if i in keep or not isinstance(data, (np.ndarray, np.generic)):
            model.graph.input.append(value)
            left.append(data)
        else:
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(data, order="C"), value.name))
    return model, left


def run(worker, model, inputs, outputs, folder):
    path = os.path.join(folder, "m.onnx")
    for opset in model.opset_import:    # cases name the set that brought the operator; those of old ones mean the same in 7
        opset.version = max(opset.version, 7)
    onnx.save(model, path)
    args = [worker, "infer", path, "--output", folder]
    for value, data in zip(model.graph.input, inputs):
        if not isinstance(data, np.ndarray):
            return "inputs are tensors of numbers"
        path = os.path.join(folder, "in.%d.npy" % len(args))
        np.save(path, np.asarray(data, order="C"))
        args += ["--input", "%s=%s" % (value.name, path)]
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode == 1:
        return done.stderr.strip().split("\n")[-1]
    if done.returncode:
        raise AssertionError("exit status %d: %s" % (done.returncode, done.stderr[-2000:]))
    for i, want in enumerate(outputs):
        got = np.load(os.path.join(folder, "%d.npy" % i))
        want = np.asarray(want)
        np.testing.assert_allclose(got.reshape(want.shape).astype(np.float64), want.astype(np.float64), rtol=1e-3, atol=1e-6)
    return None


def run_case(worker, case, folder):
    """As it is; else with all but one input known."""
    inputs, outputs = case.data_sets[0]
    why = run(worker, case.model, inputs, outputs, folder)
    if why and "mean and deviation" in why:     # LayerNormalization: the outputs that training needs
        model = onnx.ModelProto.FromString(case.model.SerializeToString())
        del model.graph.output[1:]
        del model.graph.node[0].output[1:]
        return run(worker, model, inputs, outputs[:1], folder)
    for keep in ({0}, {1}) if why and len(inputs) > 1 else ():
        model, left = fixed(case, keep)
        if run(worker, model, left, outputs, folder) is None:
            return None
    return why


def table(ops, count, passed, refused):
    """What docs/gen/onnx_nodes.md holds. Cases of several operators count for each."""
    lines = ["# Node tests of ONNX", "",
             "Written by tests/onnx/nodes.py --write: for each operator that [onnx.md](onnx.md) claims, the cases of the",
             "specification (Debian's python3-onnx %s) that have it, how many give the specification's outputs, and how many" %
             onnx.__version__, "are refused by a stated limit. A case of several operators counts for each. None may fail.", "",
             "| operator | cases | pass | refused |", "|---|---|---|---|"]
    for op in sorted(ops):
        lines.append("| `%s` | %d | %d | %d |" % (op, count[op], passed[op], refused[op]))
    return "\n".join(lines) + "\n"


def judge_table(option, file, text):
    """What is wrong with the table that is checked in, or None."""
    if option == "--write":
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        return None
    with open(file, encoding="utf-8") as f:
        return None if f.read() == text else "%s is not what this run gives; write it anew with --write" % file


def main():
    words = sys.argv[2:]
    option = next((w for w in words if w in ("--table", "--write")), None)
    file = words[words.index(option) + 1] if option else None
    worker, loud, only = sys.argv[1], "-v" in words, [a for a in words if a not in ("-v", option, file)]
    ops = claimed()
    count, passed, failed, refused = collections.Counter(), collections.Counter(), [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="falaj-onnx-") as folder:
        for case in collect_testcases(None):
            names = {n.op_type for n in case.model.graph.node}
            if only and not names & set(only):
                continue
            if not names <= ops or SKIPPED.search(case.name) or any(n.domain not in ("",
                "ai.onnx") for n in case.model.graph.node):
                continue
            count.update(names)
            try:
                why = run_case(worker, case, folder)
            except AssertionError as e:
                failed.append((case.name, str(e)))
                continue
            if why is None:
                passed.update(names)
            elif any(limit in why for limit in LIMITS):
                refused.update(names)
                if loud:
                    print("refused", case.name, why)
            else:
                failed.append((case.name, why))
    for name, why in failed:
        print("FAILED %s: %s" % (name, why[:600]))
    for op in sorted(ops):
        if not passed[op] and op not in NO_CASE and (not only or op in only):
            failed.append((op, ""))
            print("NONE PASSED: %s (%d cases, %d refused)" % (op, count[op], refused[op]))
    odd = judge_table(option, file, table(ops, count, passed, refused)) if option else None
    if odd:
        failed.append((file, odd))
        print(odd)
    print("onnx nodes: %d cases of %d claimed operators passed, %d refused within stated limits, %d failed" % (
        sum(passed.values()), len(ops), sum(refused.values()), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
