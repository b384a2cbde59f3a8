#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu.sh [--backend NAME] [ROUNDS] [NET…] - builds the release form of bench_train and runs it in turns with Debian's PyTorch
# (deploy/install-deps.sh --torch). NAME as worker.backend has it (auto, ref, avx2, avx512 …); with avx2 PyTorch is held to AVX2,
# too. NET gbdt: boosting beside scikit-learn's (gbdt.py). NET tuned: whole tuned jobs beside those of the default spec
# (tuned.py). These two take what the machine has.
set -euo pipefail
usage='usage: cpu.sh [--backend NAME] [ROUNDS] [gpt|cnn|mlp…|gbdt|tuned…]'
backend=()
while [[ ${1:-} == -* ]]; do
    [[ $1 == --backend && -n ${2:-} ]] || { echo "$usage" >&2; exit 2; }
    backend=(--backend "$2")
    shift 2
done
[[ ${1:-5} =~ ^[1-9][0-9]*$ ]] || { echo "cpu.sh: ROUNDS is a number from 1 on, not \"$1\"; $usage" >&2; exit 2; }
[[ ${#backend[@]} == 0 || ! ${2:-} =~ ^(gbdt|tuned)$ ]] || { echo "cpu.sh: $2 knows no --backend; $usage" >&2; exit 2; }
cd "$(dirname "$0")/../../.."
cmake --preset release >/dev/null
ninja -C build/release bench_train bench_gbdt bench_tune >/dev/null
if [[ ${2:-} == gbdt ]]; then
    exec /usr/bin/python3 tests/bench/training/gbdt.py build/release/bin/bench_gbdt "${1:-5}"
fi
if [[ ${2:-} == tuned ]]; then
    exec /usr/bin/python3 tests/bench/training/tuned.py build/release/bin/bench_tune "${1:-3}" "${@:3}"
fi
exec /usr/bin/python3 tests/bench/training/cpu.py "${backend[@]}" build/release/bin/bench_train "${@:-5}"
