/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - machines and tasks of a cluster, read strictly from the CSV of the published GPU traces (alibaba/clusterdata, 2023).
 *
 * Machines: columns sn, cpu_milli, memory_mib, gpu (devices), model. Tasks: name, cpu_milli, memory_mib, num_gpu, gpu_milli, and
 * where they
 * are there gpu_spec (models that may serve it, `|` between them; empty: any), qos, creation_time, deletion_time, scheduled_time
 * (seconds;
 * empty: unknown). Columns stand in any order; others are not looked at. LF or CRLF; no quotes; the last line end may be missing.
 * Refused, with file and line: a missing or doubled column, another number of fields than the header has, anything but a whole
 * number in
 * its range, a share of several GPUs, a machine's name twice, more than GROUPS_MAX models, an empty file.
 *
 * Memory: all in the arena, which must be large enough for the file (LIMIT else). Errors: INVALID, LIMIT. */
#pragma once
#include "core/base/str.h"
#include "scheduler/plan/resource.h"

enum { TRACE_MACHINES_MAX = 1 << 20, TRACE_TASKS_MAX = 1 << 24 };
#define TRACE_SECONDS_MAX ((int64_t)1 << 40)
#define TRACE_TIME_UNKNOWN INT64_MIN

struct trace_machine { struct str name; struct room all; };
struct trace_task {
    struct ask ask;
    struct str qos;
    int64_t created_s, deleted_s, scheduled_s;          /* TRACE_TIME_UNKNOWN: not said */
};

struct trace {
    struct { struct trace_machine *items; size_t n; } machines;
    struct { struct trace_task *items; size_t n; } tasks;
    struct str models[GROUPS_MAX];                      /* by group */
    unsigned nmodels;
    bool has_times;                                     /* the tasks have creation_time and deletion_time */
};

/* Machines first: they name the models. */
MUST_CHECK enum errc trace_read_machines(struct arena *a, const char *path, struct trace *t, struct err *e);
MUST_CHECK enum errc trace_read_tasks(struct arena *a, const char *path, struct trace *t, struct err *e);
