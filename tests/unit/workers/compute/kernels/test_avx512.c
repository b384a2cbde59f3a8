/* SPDX-License-Identifier: Apache-2.0 */
/* test_avx512.c - the blocking, packing and epilogues of avx512 over plain tile operations, on any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workers/compute/kernels/tile_int.h"

#define MR AVX512_MR
#define NR AVX512_NR
#define QR AVX512_QR
#define QN AVX512_QN
#define DEPTH_LANES AVX512_DEPTH_LANES
#define TIER backend_avx512
#include "tier_kit.h"
