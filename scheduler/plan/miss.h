/* SPDX-License-Identifier: Apache-2.0 */
/* miss.h - what one machine lacks for one job, at all or now, and which machine lacks least.
 *
 * Asked at submission of all that a machine has (is_free false), and of what it has free when somebody wants to know why a job
 * waits. Pure; after snapshot_fill where free room is asked. */
#pragma once
#include "scheduler/plan/snapshot.h"

enum miss_what { MISS_PROGRAMS, MISS_ENGINE, MISS_MODEL, MISS_SHARE, MISS_GPUS, MISS_SLOTS, MISS_CPU, MISS_MEMORY, MISS_COUNT };
extern const char *const miss_names[];      /* kind, engine, gpu_models, gpu_milli, gpus, slots, cpu_milli, memory_bytes */

struct miss {
    unsigned lacks;                         /* bit by enum miss_what; 0: nothing */
    int64_t asked[MISS_COUNT], has[MISS_COUNT];
    int64_t shortage;                       /* thousandths of what is asked, over all that lacks */
    struct str zone, flavor, gpu_model, engines;     /* of the machine; borrowed from it */
};

struct miss miss_of(const struct snap_node *n, const struct snap_job *j, bool is_free);
/* Fewer things lack, or less of them. */
bool miss_is_nearer(const struct miss *a, const struct miss *than);
/* The first thing that lacks; the miss has one. */
enum miss_what miss_first(const struct miss *m);
/* "asked 12 slots, it has 8; asked 2 GPUs, it has 1". is_free: "…, it has 8 free". */
struct str miss_words(const struct miss *m, const struct snap_job *j, bool is_free, struct arena *a);
