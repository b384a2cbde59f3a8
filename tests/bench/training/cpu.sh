#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpu.sh [ROUNDS] [NET…] - builds the release form of bench_train and runs it in turns with Debian's PyTorch
# (deploy/install-deps.sh --torch). NET gbdt: boosting beside scikit-learn's (gbdt.py). NET tuned: whole tuned jobs beside those
# of the default spec (tuned.py).
set -euo pipefail
cd "$(dirname "$0")/../../.."
cmake --preset release >/dev/null
ninja -C build/release bench_train bench_gbdt bench_tune >/dev/null
if [[ ${2:-} == gbdt ]]; then
    exec /usr/bin/python3 tests/bench/training/gbdt.py build/release/bin/bench_gbdt "${1:-5}"
fi
if [[ ${2:-} == tuned ]]; then
    exec /usr/bin/python3 tests/bench/training/tuned.py build/release/bin/bench_tune "${1:-3}" "${@:3}"
fi
exec /usr/bin/python3 tests/bench/training/cpu.py build/release/bin/bench_train "${@:-5}"
