/* SPDX-License-Identifier: Apache-2.0 */
/* test_avx2.c - the blocking, packing and epilogues of avx2 over plain tile operations, on any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workers/compute/kernels/tile_int.h"

#define MR AVX2_MR
#define NR AVX2_NR
#define QR AVX2_QR
#define QN AVX2_QN
#define DEPTH_LANES AVX2_DEPTH_LANES
#define TIER backend_avx2
#include "tier_kit.h"
