#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh - what training does on this machine's card, within nine minutes by its own clock: one JSON line per figure into
# figures.jsonl beside it (card, driver, versions, commit in each), a short table last.
#
#   tests/bench/training/gpu.sh                    needs gcc, bash, a driver, and clang or nvcc; nothing else of this project's
#   tests/bench/training/gpu.sh --emulated BIN     the whole script at toy size over the form that runs on the processor; keeps
# nothing
#   tests/bench/training/gpu.sh --build            only whether the program builds; needs no card
#
# Stages by worth, so that what is cut is the end: build, every operation against the fp64 reference (and under
# compute-sanitizer where there is one), copies, the twelve products of a 124M step, attention, steps of gpt 124M and 350M with
# the power they draw, cnn, mlp, PyTorch's fp32 step of the same size where there is a torch. A stage that fails is a line with
# its reason, and the next one runs. FALAJ_GPU_SECONDS: less than 540. Exit status: 0 all ran, 1 one failed, 3 no card.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 2
here=tests/bench/training
began=$SECONDS
most=${FALAJ_GPU_SECONDS:-540}
emulated='' only_build='' bin='' failed=0
if [[ ${1:-} == --emulated ]]; then
    emulated=1 bin=${2:?--emulated needs the program}
elif [[ ${1:-} == --build ]]; then
    only_build=1
elif (($#)); then
    sed -n '3,16s/^# \{0,1\}//p' "$0"
    exit 2
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
lines=$out/lines
: >"$lines"

left() { echo $((most - (SECONDS - began))); }
text() { tr -d '"\\\n' <<<"$1" | cut -c1-120; }

# The machine, once.
card=emulated driver='' versions=''
if [[ -z $emulated$only_build ]]; then
    command -v nvidia-smi >/dev/null || { echo "gpu.sh: no nvidia-smi, so no driver and no card" >&2; exit 3; }
    card=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
    [[ -n $card ]] || { echo "gpu.sh: nvidia-smi shows no card" >&2; exit 3; }
fi
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)

# keep STAGE-LINE: with what it was measured on.
keep() {
    local line=$1
    [[ $line == '{'*'}' ]] || line="{\"stage\": \"unknown\", \"failed\": \"$(text "$line")\"}"
    [[ $line != *'"failed"'* ]] || failed=1
    printf '%s, "at": "%s", "card": "%s", "driver": "%s", "compiler": "%s", "commit": "%s"}\n' "${line%\}}" \
        "$(date -u +%FT%TZ)" "$(text "$card")" "$(text "$driver")" "$(text "$versions")" "$commit" | tee -a "$lines"
}

# run LIMIT STAGE SECONDS NUMBER…: one figure, if there is time for it.
run() {
    local limit=$1 rest said rc
    shift
    rest=$(left)
    if ((rest < 20)); then
        keep "{\"stage\": \"$1\", \"failed\": \"no time was left\"}"
        return 1
    fi
    ((limit < rest - 5)) || limit=$((rest - 5))
    said=$(timeout "$limit" "$bin" "$@" 2>"$out/err")
    rc=$?
    if [[ -z $said ]]; then
        said="{\"stage\": \"$1\", \"failed\": \"status $rc after at most $limit s: $(text "$(tail -1 "$out/err")")\"}"
    fi
    keep "$said"
}

# The compute engine alone, by the compiler itself: what it uses of core/ comes along, the linker drops the rest.
build() {
    local flags=(-std=gnu17 -D_GNU_SOURCE '-DFALAJ_VERSION="bench"' -O2 -w -fPIE -ffunction-sections -fdata-sections -I.) image
    local ptx=() sources=() device=(-x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -Xclang -target-feature
        -Xclang +ptx70 -Wno-unknown-cuda-version -std=c++17 -O3 -ffp-contract=off)
    mkdir -p "$out/o" "$out/ptx"
    for source in workers/compute/kernels/cuda/*.cu; do
        image=$out/ptx/$(basename "$source" .cu).ptx
        if command -v nvcc >/dev/null; then
            versions="nvcc $(nvcc --version | sed -nE 's/.*release ([0-9.]+).*/\1/p')"
            ptx+=("nvcc -std=c++17 -O3 -fmad=false -arch=compute_80 -ptx -I. -o $image $source")
        else
            versions=$(clang --version | head -1)
            ptx+=("clang ${device[*]} -I. -S -o $image $source")
        fi
    done
    printf '%s\0' "${ptx[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c '{}' || return 1
    {
        echo '#include "workers/compute/kernels/cuda/image_int.h"'
        for image in "$out"/ptx/*.ptx; do echo "IMAGE($(basename "$image" .ptx), \"$image\");"; done
        echo 'const struct gpu_image gpu_images[] = {'
        for image in "$out"/ptx/*.ptx; do echo "{ \"$(basename "$image" .ptx)\", falaj_gpu_$(basename "$image" .ptx) },"; done
        echo '{ NULL, NULL } };'
    } >"$out/gpu_images.c"
    sources=(workers/compute/*.c workers/compute/{kernels,kernels/cuda,graph,train}/*.c core/{base,table,json,data}/*.c
        core/wire/{job_type,job_result,infer_wire}.c core/wire/type_*.c "$out/gpu_images.c" "$here/bench_gpu.c")
    local tier
    for source in "${sources[@]}"; do
        tier=''
        case $source in
        */avx2.c) tier='-O3 -mavx2 -mfma' ;;
        */avx512bf16.c) tier='-O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16' ;;
        */avx512vnni.c) tier='-O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni' ;;
        */avx512.c) tier='-O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl' ;;
        */avx*.c) echo "gpu.sh has no flags for $source (workers/compute.cmake)" >&2; return 1 ;;
        esac
        printf '%s %s\0' "$tier -c -o $out/o/$(tr / _ <<<"$source").o" "$source"
    done | xargs -0 -P "$(nproc)" -I{} bash -c "gcc ${flags[*]@Q} {}" || return 1
    bin=$out/bench_gpu
    gcc -pie -Wl,--gc-sections -o "$bin" "$out"/o/*.o -lm -ldl -lpthread
}

# Watts while a figure is taken, four times a second.
watch_power() { nvidia-smi --query-gpu=power.draw --format=csv,noheader,nounits -lms 250 >"$out/watts" 2>/dev/null & power=$!; }
power_line() {
    kill "$power" 2>/dev/null
    wait "$power" 2>/dev/null
    local watts items each
    watts=$(awk '$1 + 0 > 0 { s += $1; n++ } END { if (n > 8) printf "%.0f", s / n }' "$out/watts")
    items=$(tail -1 "$lines" | sed -nE 's/.*"items_s": ([0-9]+).*/\1/p')
    if [[ -n $watts && -n $items && $items != 0 ]]; then
        each=$(awk "BEGIN { print 1000 * $watts / $items }")
        keep "{\"stage\": \"energy\", \"of\": \"$1\", \"watts\": $watts, \"mj_per_item\": $each}"
    fi
}

step() {
    local name=$1
    shift
    [[ -n $emulated ]] || watch_power
    run 90 "$@"
    [[ -n $emulated ]] || power_line "$name"
}

if [[ -z $emulated ]]; then
    from=$SECONDS
    build 2>"$out/err" || { keep "{\"stage\": \"build\", \"failed\": \"$(text "$(tail -1 "$out/err")")\"}"; exit 1; }
    keep "{\"stage\": \"build\", \"seconds\": $((SECONDS - from))}"
    [[ -z $only_build ]] || exit 0
fi
run 120 check 0
if grep -q '"stage": "open"' "$lines"; then
    echo "gpu.sh: this program cannot open the card, so nothing is kept" >&2
    exit 3
fi
if [[ -z $emulated ]] && command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        timeout 60 compute-sanitizer --tool $tool --error-exitcode 9 "$bin" check 0 >"$out/sanitizer" 2>&1
        case $? in
        0) keep "{\"stage\": \"$tool\", \"ok\": true}" ;;
        124) keep "{\"stage\": \"$tool\", \"failed\": \"not done in a minute\"}" ;;
        *) keep "{\"stage\": \"$tool\", \"failed\": \"$(text "$(grep -m1 -i error "$out/sanitizer")")\"}" ;;
        esac
    done
fi
if [[ -n $emulated ]]; then
    run 60 copy 0.01 1
    run 60 product 0.01 65 40 33
    run 60 attention 0.01 1 9 2 4
    step 'gpt' gpt 0.01 1 16 2 9 2
    step 'cnn' cnn 0.01 6 8 2
    step 'mlp' mlp 0.01 9 17 8
    FALAJ_GPU_BF16=1 run 60 product 0.01 65 40 33
    FALAJ_GPU_BF16=1 step 'gpt in bf16' gpt 0.01 1 16 2 9 2
else
    run 30 copy 2 1024
    step 'gpt 124M' gpt 12 12 768 12 1024 8
    FALAJ_GPU_BF16=1 step 'gpt 124M in bf16' gpt 12 12 768 12 1024 8
    FALAJ_GPU_BF16=1 run 20 product 1.5 8192 3072 768
    FALAJ_GPU_BF16=1 run 20 product 1.5 768 768 8192
    # Rows of 8,192 tokens: attention in and out, perceptron in and out, head; then their two gradients' shapes.
    for shape in '2304 768' '768 768' '3072 768' '768 3072' '50304 768' '8192 8192'; do
        # shellcheck disable=SC2086
        run 20 product 1.5 8192 $shape
    done
    for shape in '768 2304 8192' '768 768 8192' '3072 768 8192' '768 3072 8192' '50304 768 8192' '8192 768 50304'; do
        # shellcheck disable=SC2086
        run 20 product 1.5 $shape
    done
    run 30 attention 3 8 1024 12 64
    step 'gpt 350M' gpt 12 24 1024 16 1024 4
    step 'mlp' mlp 3 784 1024 1024
    step 'cnn' cnn 6 32 64 128
    if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        said=$(timeout "$(($(left) > 100 ? 90 : $(left) - 5))" python3 $here/gpu_torch.py 2>"$out/err") || said=''
        [[ -n $said ]] || said="{\"stage\": \"torch\", \"failed\": \"$(text "$(tail -1 "$out/err")")\"}"
        while IFS= read -r line; do keep "$line"; done <<<"$said"
    fi
    cat "$lines" >>$here/figures.jsonl
fi
printf '\n%s, %s, %s: %d s\n' "$card" "$driver" "$commit" $((SECONDS - began))
sed -E 's/, "at": .*//; s/[{}"]//g; s/^stage: //' "$lines"
exit "$failed"
