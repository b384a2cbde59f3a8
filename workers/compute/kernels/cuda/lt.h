/* SPDX-License-Identifier: Apache-2.0 */
/* lt.h - cuBLASLt through one table of functions, opened at run time, as the driver is: nothing of it is needed to build, and a
 * machine without it uses the own kernels. The table's other form is tests/cuda/emu_lt.h.
 *
 * Its matrices lie by columns, so ours, by rows, are theirs turned: out = op(a)·op(b) is asked for as outᵀ = op(b)ᵀ·op(a)ᵀ,
 * with b first, and a vector for the rows of theirs is one for the columns of ours. Source of structs and numbers: cublasLt.h,
 * cublas_api.h and library_types.h of the toolkit 13.0; those used here are the same in 12. */
#pragma once
#include <stdint.h>
#include "core/base/err.h"
#include "workers/compute/kernels/cuda/driver.h"

struct lt_way {                 /* cublasLtMatmulAlgo_t: may be kept and used again with the same version of the library */
    uint64_t of[8];
};
struct lt_answer {              /* cublasLtMatmulHeuristicResult_t */
    struct lt_way way;
    size_t room_bytes;
    int status;
    float waves;
    int reserved[4];
};

enum { LT_F32 = 0, LT_BF16 = 14 };                                  /* cudaDataType */
enum { LT_SUMS_F32 = 68 };                                          /* cublasComputeType_t */
enum { LT_NOT_SUPPORTED = 15, LT_INVALID = 7 };                     /* cublasStatus_t */
enum { LT_TURN_A = 3, LT_TURN_B = 4, LT_END = 7, LT_BIAS = 8, LT_AUX = 11, LT_AUX_STRIDE = 12,
       LT_AUX_TYPE = 22, LT_BIAS_TYPE = 26 };                                         /* cublasLtMatmulDescAttributes_t */
enum { LT_LAYOUT_BATCH = 5, LT_LAYOUT_STEP = 6 };                   /* cublasLtMatrixLayoutAttribute_t */
enum { LT_WISH_ROOM = 1, LT_WISH_REDUCTION = 3, LT_WISH_ALIGN_A = 5, LT_WISH_ALIGN_B = 6, LT_WISH_ALIGN_C = 7,
       LT_WISH_ALIGN_D = 8 };                                       /* cublasLtMatmulPreferenceAttributes_t */
/* cublasLtReductionScheme_t: parts of a sum are added from memory of their own, in fp32 and in a fixed order; or there are
 * none. */
enum { LT_REDUCTION_FIXED = 2 };
/* cublasLtEpilogue_t. DGELU takes what GELU_AUX left; BGRAD, BGRADA and BGRADB write sums to where LT_BIAS points. */
enum { LT_END_PLAIN = 1, LT_END_RELU = 2, LT_END_BIAS = 4, LT_END_GELU_BIAS = 32 | 4, LT_END_GELU_AUX_BIAS = 32 | 128 | 4,
       LT_END_DGELU = 64 | 128, LT_END_DGELU_BGRAD = 64 | 128 | 16, LT_END_BGRADA = 256, LT_END_BGRADB = 512 };

struct lt_api {
#define CALL(name, symbol, arguments) int (*name) arguments;
#include "workers/compute/kernels/cuda/lt.def"
#undef CALL
    size_t room_bytes;          /* of a context's workspace: as much as a way may ask for */
};

/* setting: "auto" (libcublasLt.so.13, then .12), or a path. UNAVAILABLE: no library, or one that lacks a function. It is never
 * closed: it has threads of its own. */
MUST_CHECK enum errc lt_open(const char *setting, struct lt_api *ret, struct err *e);
