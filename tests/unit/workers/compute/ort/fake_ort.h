/* SPDX-License-Identifier: Apache-2.0 */
/* fake_ort.h - what the stand-in for ONNX Runtime was told (fake_ort.c), by its function fake_ort_told. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_ort_told {
    char name[16], pairs[300];
    uint32_t version;
    int severity, telemetry_off, quiet, level, threads, branches, memories, arenas, runs, stops;
    size_t arena_bytes;
    bool arena_extend;
    bool is_old;                /* set by a test: it knows no such table */
    int alive;                  /* things that were made and not freed */
};
struct fake_ort_told *fake_ort_told(void);
