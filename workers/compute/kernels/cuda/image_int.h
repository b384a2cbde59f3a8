/* SPDX-License-Identifier: Apache-2.0 */
/* image_int.h - a file of GPU code taken in by the assembler, with a zero byte behind it; for cmake/cuda.cmake. */
#pragma once
#include "workers/compute/kernels/cuda/cuda_int.h"

#define IMAGE(name, path)                                                                                                    \
    __asm__(".pushsection .rodata\n.balign 16\n.globl falaj_gpu_" #name "\nfalaj_gpu_" #name ":\n.incbin \"" path "\"\n"       \
            ".byte 0\n.popsection\n");                                                                                      \
    extern const char falaj_gpu_##name[] __attribute__((visibility("hidden")))
