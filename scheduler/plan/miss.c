/* SPDX-License-Identifier: Apache-2.0 */
/* miss.c - amounts side by side. Processors and memory that only stand for slots are not named beside slots that lack. */
#include "scheduler/plan/miss.h"

#include <stdio.h>

const char *const miss_names[] = { "kind", "engine", "gpu_models", "gpu_milli", "gpus", "slots", "cpu_milli", "memory_bytes",
                                   NULL };

static void compare(struct miss *m, enum miss_what what, int64_t asked, int64_t has)
{
    m->asked[what] = asked;
    m->has[what] = has > 0 ? has : 0;
    if (has >= asked)
        return;
    m->lacks |= 1u << what;
    m->shortage += (int64_t)((__int128)(asked - m->has[what]) * 1000 / asked);
}

static int64_t larger_of(int64_t known, int64_t slots, int64_t slot)
{
    return known > slots * slot ? known : slots * slot;
}

struct miss miss_of(const struct snap_node *n, const struct snap_job *j, bool is_free)
{
    struct miss m = { .zone = n->zone, .flavor = n->flavor, .gpu_model = n->gpu_model, .engines = n->engines };
    const struct ask a = snap_job_ask(j);
    const bool is_share = a.gpus && a.gpu_milli < GPU_MILLI;
    struct snap_job data = *j;          /* what it asks for beside a place for its program and its engine */
    data.needs_programs = false;
    data.engine = STR_NULL;
    if (j->needs_programs && !n->programs) {
        m.lacks = 1u << MISS_PROGRAMS;
        m.shortage = 1000;
    }
    if (!snap_node_computes(n, j)) {
        m.lacks |= 1u << MISS_ENGINE;
        m.shortage += 1000;
    }
    if (a.gpus && n->gpus > 0 && !snap_job_takes(&data, n)) {
        m.lacks |= is_share && !n->gpu_shared ? 1u << MISS_SHARE : 1u << MISS_MODEL;
        m.asked[MISS_SHARE] = a.gpu_milli;
        m.shortage += 1000;
    }
    if (is_share && is_free && n->gpus > 0 && !(m.lacks >> MISS_SHARE & 1))
        compare(&m, MISS_SHARE, a.gpu_milli, devices_level(&n->devices));
    else if (a.gpus)
        compare(&m, MISS_GPUS, a.gpus, !is_free ? n->gpus : n->free_gpus < 0 ? 0 : devices_whole(&n->devices));
    compare(&m, MISS_SLOTS, a.slots, is_free ? n->free_slots : n->slots);
    const bool has_slots = !(m.lacks >> MISS_SLOTS & 1);
    if (has_slots || j->cpu_milli)
        compare(&m, MISS_CPU, a.cpu_milli, is_free ? n->free_cpu_milli : larger_of(n->cpu_milli, n->slots, SLOT_CPU_MILLI));
    if (has_slots || j->memory_bytes)
        compare(&m, MISS_MEMORY, a.memory_bytes,
                is_free ? n->free_memory_bytes : larger_of(n->memory_bytes, n->slots, SLOT_MEMORY_BYTES));
    return m;
}

bool miss_is_nearer(const struct miss *a, const struct miss *than)
{
    int x = __builtin_popcount(a->lacks), y = __builtin_popcount(than->lacks);
    return x != y ? x < y : a->shortage < than->shortage;
}

enum miss_what miss_first(const struct miss *m)
{
    return (enum miss_what)__builtin_ctz(m->lacks);
}

struct str miss_words(const struct miss *m, const struct snap_job *j, bool is_free, struct arena *a)
{
    static const char *const units[] = { "", "", "", "thousandths of a GPU", "GPUs", "slots", "thousandths of a processor",
                                         "MiB of memory" };
    struct str all = STR("");
    for (int i = 0; i < MISS_COUNT; i++) {
        if (!(m->lacks >> i & 1))
            continue;
        const int shift = i == MISS_MEMORY ? 20 : 0;
        struct str one;
        if (i == MISS_PROGRAMS)
            one = STR("asked to run a program, it runs none");
        else if (i == MISS_ENGINE && snap_engine_is_own(j->engine))
            one = str_fmt(a, "asked a worker with %.*s, it has none", STR_ARG(j->engine));
        else if (i == MISS_ENGINE)
            one = str_fmt(a, "asked the engine %.*s, it has %.*s", STR_ARG(j->engine),
                          STR_ARG(m->engines.len ? m->engines : STR("none")));
        else if (i == MISS_MODEL)
            one = str_fmt(a, "asked a GPU of %.*s, it has %.*s", STR_ARG(j->gpu_models),
                          STR_ARG(m->gpu_model.len ? m->gpu_model : STR("GPUs without a model")));
        else if (i == MISS_SHARE && !m->has[i])
            one = str_fmt(a, "asked a share of a GPU, %s", is_free ? "it has none free" : "it keeps no shares apart");
        else
            one = str_fmt(a, "asked %ld %s, it has %ld%s", (long)(m->asked[i] >> shift), units[i], (long)(m->has[i] >> shift),
                          is_free ? " free" : "");
        all = all.len ? str_fmt(a, "%.*s; %.*s", STR_ARG(all), STR_ARG(one)) : one;
    }
    return all;
}
