#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ptx.sh DIR SOURCES [PTXAS] - the GPU code that the build made: every *.cu gave a file, every kernel of kernel.def is in one of
# them, none has local memory (what did not fit into registers) or calls a function of a library that nobody links. With ptxas,
# the assembler of NVIDIA's toolkit: it takes them for sm_80, sm_90 and sm_100, and spills no register.
set -euo pipefail

dir=$1 sources=$2 ptxas=${3:-}
bad=0
say() { printf 'ptx.sh: %s\n' "$*" >&2; bad=1; }

for source in "$sources"/*.cu; do
    name=$(basename "$source" .cu)
    [[ -s $dir/$name.ptx ]] || { say "$name.cu gave no $name.ptx"; continue; }
    ! grep -n '\.local' "$dir/$name.ptx" || say "$name.cu uses local memory: it is an array that is not in registers, or a spill"
    ! grep -nE '\.extern[[:space:]]+\.func|call(\.uni)?[[:space:]]' "$dir/$name.ptx" ||
        say "$name.cu calls a function that is not there"
done
kernels=0
while IFS= read -r name; do
    kernels=$((kernels + 1))
    grep -qE "\.entry kernel_$name\(" "$dir"/*.ptx || say "kernel.def names $name, which no *.cu has"
done < <(sed -nE 's/^(KERNEL|HOPPER|FLASH_HOPPER)\(([a-z0-9_]+).*/\2/p' "$sources/kernel.def")
entries=$(cat "$dir"/*.ptx | grep -cE '\.entry kernel_')
((entries == kernels && kernels > 0)) || say "$entries kernels, $kernels of them in kernel.def"
if [[ -n $ptxas ]]; then
    for ptx in "$dir"/*.ptx; do
        archs=(sm_80 sm_90 sm_100)
        [[ $ptx != *_hopper.ptx ]] || archs=(sm_90a)
        for arch in "${archs[@]}"; do
            said=$("$ptxas" -v --gpu-name "$arch" "$ptx" -o /dev/null 2>&1) ||
                say "ptxas does not take $(basename "$ptx") for $arch: $said"
            ! grep -E 'bytes spill' <<<"$said" | grep -vE '0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' >&2 ||
                say "$(basename "$ptx") spills registers on $arch"
        done
    done
fi
files=("$dir"/*.ptx)
((bad)) || printf '%d kernels in %d files%s\n' "$kernels" "${#files[@]}" "${ptxas:+, taken for sm_80, sm_90 and sm_100}"
exit "$bad"
