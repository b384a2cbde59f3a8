#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# text.sh [FOLDER] - tokens per second of a decoder of GPT-2's 124M shape, in turns with Debian's PyTorch (text.py), some six
# minutes.
# Needs python3-torch (deploy/install-deps.sh --torch). FALAJ_SECONDS: of each figure (3). Keeps a model of 0.5 GB in FOLDER.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) root=$(cd "$here/../../.." && pwd)
folder=${1:-$(mktemp -d /tmp/falaj-text-XXXXXX)}
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
    echo "text.sh: needs python3-torch (deploy/install-deps.sh --torch)" >&2
    exit 1
fi
mkdir -p "$folder"
(cd "$root" && cmake --preset release >/dev/null && ninja -C build/release bin/falaj-worker >&2)
/usr/bin/python3 "$here/text.py" "$root/build/release/bin/falaj-worker" "$folder" "${FALAJ_SECONDS:-3}"
echo "figures: $folder/figures.jsonl"
