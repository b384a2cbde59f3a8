#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [FOLDER] - inference measured in turns with ONNX Runtime 1.30 from npm (package-lock.json), one thread, fp32 and eight
# bits; about six minutes. Builds the release worker, writes the models (Debian's python3-onnx) and keeps the figures as JSON
# lines in FOLDER/figures.jsonl. FALAJ_SECONDS: of each figure (1). The packages go to FOLDER; nothing of the tree is changed but
# build/.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) root=$(cd "$here/../../.." && pwd)
folder=${1:-$(mktemp -d /tmp/falaj-inference-XXXXXX)}
if ! /usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null; then
    echo "run.sh: needs python3-onnx (apt-get install python3-onnx)" >&2
    exit 1
fi
PATH=$("$root/deploy/node-env.sh")
export PATH
mkdir -p "$folder"
cp "$here"/{package.json,package-lock.json,peer.mjs,run.py} "$folder"
# --ignore-scripts: its script wants a GPU's library from another registry; the processor's is in the package.
[[ -d $folder/node_modules/onnxruntime-node ]] || (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund >&2)
(cd "$root" && cmake --preset release >/dev/null && ninja -C build/release bin/falaj-worker >&2)
[[ -f $folder/depthwise96-int8.onnx ]] || /usr/bin/python3 "$here/models.py" "$folder"
python3 "$folder/run.py" "$root/build/release/bin/falaj-worker" "$folder" "${FALAJ_SECONDS:-1}"
echo "figures: $folder/figures.jsonl"
