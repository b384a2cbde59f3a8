/* SPDX-License-Identifier: Apache-2.0 */
/* shuffle.h - the order of a data set in an epoch as a pure function: order(seed, epoch, index), a permutation of 0 … n-1.
 *
 * Nothing is stored, so a resumed run needs only (epoch, index), and any reader may take any part. */
#pragma once
#include <stdint.h>

uint64_t shuffle_at(uint64_t seed, uint64_t epoch, uint64_t n, uint64_t index);     /* index < n; n >= 1 */
