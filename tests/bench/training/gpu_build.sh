# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# gpu_build.sh - the compute engine and bench_gpu by the compiler alone, for gpu.sh: needs gcc, and clang or nvcc.
#
# build FILE WORK: into FILE; WORK is a folder for what comes between. What needs a library that is not the C library's is left
# out, everywhere alike: a header of that name that refuses stands before the system's. What the program truly uses the linker
# picks from the rest. Sets `versions`.
# FALAJ_GPU_COMPILER: clang or nvcc, for the GPU code; nvcc where there is one, else clang.

gpu_images() {
    local work=$1 source image card then ptx=() with=${FALAJ_GPU_COMPILER:-} nvcc=nvcc
    local device=(-x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -Xclang -target-feature
        -Xclang +ptx70 -Wno-unknown-cuda-version -std=c++17 -O3 -ffp-contract=off)
    command -v nvcc >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
    if [[ -z $with ]]; then
        with=clang
        ! command -v "$nvcc" >/dev/null || with=nvcc
    fi
    if [[ $with == nvcc ]]; then
        versions="nvcc $("$nvcc" --version | sed -nE 's/.*release ([0-9.]+).*/\1/p')"
    else
        versions=$(clang --version | head -1)
    fi
    for source in workers/compute/kernels/cuda/*.cu; do
        image=$work/ptx/$(basename "$source" .cu).ptx
        card=80 then=''
        if [[ $source == *_hopper.cu ]]; then       # as cmake/cuda.cmake
            card=90a then=" && sed -i 's/^[.]version 7[.]0/.version 8.0/; s/^[.]target sm_80/.target sm_90a/' $image"
        fi
        if [[ $with == nvcc ]]; then
            ptx+=("$nvcc -std=c++17 -O3 -fmad=false -arch=compute_$card -ptx -I. -o $image $source")
        else
            ptx+=("clang ${device[*]} -I. -S -o $image $source$then")
        fi
    done
    printf '%s\0' "${ptx[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c '{}' || return 1
    {
        echo '#include "workers/compute/kernels/cuda/image_int.h"'
        for image in "$work"/ptx/*.ptx; do echo "IMAGE($(basename "$image" .ptx), \"$image\");"; done
        echo 'const struct gpu_image gpu_images[] = {'
        for image in "$work"/ptx/*.ptx; do echo "{ \"$(basename "$image" .ptx)\", falaj_gpu_$(basename "$image" .ptx) },"; done
        echo '{ NULL, NULL } };'
    } >"$work/gpu_images.c"
}

build() {
    local to=$1 work=$2 source tier header sources
    local flags=(-std=gnu17 -D_GNU_SOURCE '-DFALAJ_VERSION="bench"' -O2 -w -fPIE -ffunction-sections -fdata-sections
        "-I$work/refused" -I.)
    mkdir -p "$work"/{o,ptx,refused/openssl,failed}
    for header in jansson.h openssl/evp.h openssl/sha.h; do
        echo "#error the compute engine does without $header" >"$work/refused/$header"
    done
    gpu_images "$work" || return 1
    # The engine must compile; of core/ what can.
    sources=(workers/compute/*.c workers/compute/{kernels,kernels/cuda,graph,train,infer,text,onnx,optimise}/*.c
        "$work/gpu_images.c" tests/bench/training/{bench_gpu,gpu_*}.c
        core/{base,table,data}/*.c core/wire/{job_type,job_result,infer_wire}.c core/wire/type_*.c)
    for source in "${sources[@]}"; do
        tier=''
        case $source in
        */avx2.c) tier='-O3 -mavx2 -mfma' ;;
        */avx512bf16.c) tier='-O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16' ;;
        */avx512vnni.c) tier='-O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni' ;;
        */avx512.c) tier='-O3 -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl' ;;
        */avx*.c) echo "gpu.sh has no flags for $source (workers/compute.cmake)" >&2; return 1 ;;
        esac
        printf '%s\0' "$tier -c -o $work/o/$(tr / _ <<<"$source").o $source 2>$work/failed/$(tr / _ <<<"$source")"
    done | xargs -0 -P "$(nproc)" -I{} bash -c "${FALAJ_GPU_CC:-gcc} ${flags[*]@Q} {} || true"
    rm -f "$work/engine.a"
    ar rcs "$work/engine.a" "$work"/o/*.o || return 1
    if ! gcc -pie -Wl,--gc-sections -o "$to" "$work"/o/*bench_gpu.c.o "$work"/o/*gpu_images.c.o "$work/engine.a" -lm -ldl \
        -lpthread 2>"$work/link"; then
        head -c 600 "$work/link" >&2
        grep -h 'error:' "$work"/failed/* | sort | uniq -c | sort -rn | head -20 >&2
        return 1
    fi
}
