/* SPDX-License-Identifier: Apache-2.0 */
/* st_header_int.h - the header's JSON taken apart; its offsets are not yet believed. For safetensors.c only. */
#pragma once
#include "core/data/safetensors.h"

struct st_entry {
    struct st_tensor tensor;        /* name, dtype, rank, shape */
    uint64_t begin, end;
};

struct st_header {
    struct st_entry *entries;
    size_t entry_count;
    struct st_pair *meta;
    size_t meta_count;
};

enum errc st_header_parse(struct arena *a, struct str json, struct st_header *ret, struct err *e);
