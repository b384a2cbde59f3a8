/* SPDX-License-Identifier: Apache-2.0 */
/* job_state.c - the tables of job_state.def in C form. */
#include "scheduler/jobs/job_state.h"
#include "core/base/assert.h"

const char *const job_state_names[] = {
#define STATE(name, terminal, group, doc) #name,
#include "scheduler/jobs/job_state.def"
#undef STATE
    NULL
};

const char *const job_group_names[] = {
#define GROUP(name, wire, doc) wire,
#include "scheduler/jobs/job_state.def"
#undef GROUP
    NULL
};

static const char *const group_docs[] = {
#define GROUP(name, wire, doc) doc,
#include "scheduler/jobs/job_state.def"
#undef GROUP
};

static const struct { bool terminal; enum job_group group; const char *doc; } states[] = {
#define STATE(name, terminal, group, doc) { terminal, JG_##group, doc },
#include "scheduler/jobs/job_state.def"
#undef STATE
};

const char *const job_event_names[] = { "ADMIT", "HOLD", "REJECT", "CANCEL", "DEADLINE", "UNHOLD", "TAKE", "RETURN", "EXPIRE", "LOSE",
                                        "START", "FAIL", "SUCCEED", "TIMEOUT", "OOM", "PREEMPT", "EVICT",
                                        "RETRY", "SUSPEND", "RESUME", NULL };

const char *const job_reason_names[] = {
#define REASON(name, wire, doc) wire,
#include "scheduler/jobs/job_state.def"
#undef REASON
    NULL
};

static const char *const reason_docs[] = {
#define REASON(name, wire, doc) doc,
#include "scheduler/jobs/job_state.def"
#undef REASON
};

static const struct edge { enum job_state from; enum job_event_kind event; enum job_state to; } edges[] = {
#define EDGE(from, event, to) { JOB_##from, JE_##event, JOB_##to },
#include "scheduler/jobs/job_state.def"
#undef EDGE
};
enum { EDGES = sizeof edges / sizeof *edges };

bool job_state_is_terminal(enum job_state s)
{
    return states[s].terminal;
}

enum job_group job_state_group(enum job_state s)
{
    return states[s].group;
}

int job_state_next(enum job_state s, enum job_event_kind event)
{
    for (int i = 0; i < EDGES; i++)
        if (edges[i].from == s && edges[i].event == event)
            return (int)edges[i].to;
    return -1;
}

enum job_state job_event_goal(enum job_event_kind event)
{
    for (int i = 0; i < EDGES; i++)
        if (edges[i].event == event)
            return edges[i].to;
    ASSERT(!"an event without an edge");
    return JOB_STATE_COUNT;
}

size_t job_states_before(enum job_event_kind event, struct str out[JOB_STATE_COUNT])
{
    size_t n = 0;
    for (int i = 0; i < EDGES; i++)
        if (edges[i].event == event)
            out[n++] = str_c(job_state_names[edges[i].from]);
    return n;
}

void job_state_print_markdown(struct buf *out)
{
    buf_add_c(out, "# States of a job\n\nPrinted from scheduler/jobs/job_state.def.\n\n| state | terminal | group | meaning |\n|---|---|---|---|\n");
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        buf_printf(out, "| %s | %s | %s | %s |\n", job_state_names[i], states[i].terminal ? "yes" : "no", job_group_names[states[i].group],
                   states[i].doc);
    buf_add_c(out, "\n| group | meaning |\n|---|---|\n");
    for (int i = 0; i < JG_COUNT; i++)
        buf_printf(out, "| %s | %s |\n", job_group_names[i], group_docs[i]);
    buf_add_c(out, "\n```mermaid\nstateDiagram-v2\n  [*] --> PENDING\n");
    for (int i = 0; i < EDGES; i++)
        buf_printf(out, "  %s --> %s: %s\n", job_state_names[edges[i].from], job_state_names[edges[i].to], job_event_names[edges[i].event]);
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        if (states[i].terminal)
            buf_printf(out, "  %s --> [*]\n", job_state_names[i]);
    buf_add_c(out, "```\n\n| reason of a pending job | meaning |\n|---|---|\n");
    for (int i = 1; i < JR_COUNT; i++)
        buf_printf(out, "| %s | %s |\n", job_reason_names[i], reason_docs[i]);
}
