#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnxruntime.sh - the real ONNX Runtime, of npm (tests/bench/inference/package-lock.json): the children of test_child_engine.c
# with it, and a model of three operators that ours lacks beside a direct call of the same library. Numbers must be equal to 1e-6
# of their range; then a whole platform with it (onnxruntime.py). Without npm's package or python3-onnx it says so, nothing was
# tried. usage: onnxruntime.sh [FOLDER]
# FOLDER: where the package is, or is put.
set -euo pipefail
cd "$(dirname "$0")/../.."
PATH=$(deploy/node-env.sh)
export PATH ORT_DISABLE_TELEMETRY=1
folder=${1:-}
[[ -n $folder ]] || { folder=$(mktemp -d /tmp/falaj-ort-XXXXXX); trap 'rm -rf "$folder"' EXIT; }
cp tests/bench/inference/{package.json,package-lock.json,peer.mjs} "$folder"
# --ignore-scripts: its script wants a GPU's library from another registry; the processor's is in the package.
if ! [[ -d $folder/node_modules/onnxruntime-node ]] &&
    ! (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1); then
    echo "onnxruntime.sh: npm's onnxruntime-node cannot be had here: not tried"
    exit 0
fi
if ! /usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null; then
    echo "onnxruntime.sh: there is no python3-onnx (apt-get install python3-onnx): not tried"
    exit 0
fi
library=$(readlink -f "$folder"/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1)
FALAJ_ONNXRUNTIME=$library "${FALAJ_BIN:?}/../tests/unit_workers_lease_test_child_engine"
/usr/bin/python3 - "$folder" <<'P'
import sys
import numpy, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh
folder = sys.argv[1]
numbers = numpy.random.RandomState(1)
weights = nh.from_array(numbers.randn(24, 24).astype("f4"), "w")
nodes = [h.make_node("Einsum", ["x", "w"], ["mixed"], name="mix", equation="bi,ij->bj"), h.make_node("Mish", ["mixed"], ["bent"]),
         h.make_node("CumSum", ["bent", "axis"], ["y"])]
x, y = (h.make_tensor_value_info(name, T.FLOAT, ["N", 24]) for name in "xy")
graph = h.make_graph(nodes, "odd", [x], [y], [weights, nh.from_array(numpy.array(1, dtype="i8"), "axis")])
model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)])
model.ir_version = 8
open(f"{folder}/odd.onnx", "wb").write(model.SerializeToString())
numpy.save(f"{folder}/odd.npy", numbers.randn(37, 24).astype("f4"))
P
"$FALAJ_BIN/falaj-worker" infer "$folder/odd.onnx" --input "$folder/odd.npy" --onnxruntime "$library" \
    >"$folder/ours.json" 2>"$folder/ours.log" || grep -q LeakSanitizer "$folder/ours.log"      # 14 bytes of the library's own
(cd "$folder" && echo '{"model":"odd.onnx","input":"odd.npy","threads":1,"check":true}' | node peer.mjs >direct.json)
/usr/bin/python3 - "$folder" <<'P'
import json, sys
ours = json.load(open(f"{sys.argv[1]}/ours.json"))[0]["data"]
direct = json.load(open(f"{sys.argv[1]}/direct.json"))["out"]
apart = max(abs(a - b) for a, b in zip(ours, direct, strict=True)) / max(map(abs, direct))
print(f"onnxruntime: {len(ours)} numbers, at most {apart:.1e} of their range apart from a direct call")
sys.exit(not apart <= 1e-6)
P
/usr/bin/python3 tests/e2e/onnxruntime.py "$library"
