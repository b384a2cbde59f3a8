/* SPDX-License-Identifier: Apache-2.0 */
/* agent_int.h - the agent as its files see it: agent.c (start, fence, end), fetch.c and report.c (its two threads), kept.c
 * (images), devices.c (its GPUs). */
#pragma once
#include <pthread.h>
#include "workers/agent/agent.h"
#include "workers/agent/timers.h"
#include "workers/compute/kernels/backend.h"
#include "workers/lease/engines.h"
#include "workers/lease/executor.h"

enum { GPUS_MAX = 64, WATCH_MS = 50, RETRY_MAX_MS = 1000 };
#define CALL_ARENA ((size_t)256 << 20)

struct agent {
    const struct config *config;
    const struct clock *clock;
    struct agent_api api;
    struct client *poll_client, *report_client;     /* NULL with another api */
    struct book *book;
    struct timers *timers;
    struct node_device devices[GPUS_MAX];
    struct cards *cards;                /* of the fetching thread; changed only while no lease has one */
    int64_t cards_at_us;                /* when they are asked next */
    bool cards_changed, cards_withdrawn;
    _Atomic int gpu_leases;
    struct node_register facts;
    char name[160], engines[ENGINES_TEXT];
    struct hw hw;
    struct otlp *otlp;                  /* spans and metrics; NULL: to nobody */
    struct executor_env env;
    int64_t kept_at_us;                 /* images are asked about next; the reporting thread's, as the next */
    bool kept_failed;
    _Atomic int64_t taken;              /* leases since the start, what was given back aside */
    bool api_is_before;                 /* falaj-api is of the release before; the fetching thread's */
    pthread_mutex_t lock;               /* guards env.node; only the fetching thread writes it */
    _Atomic bool stopping, reporter_ends;
    _Atomic int runners, insiders;      /* leases; people let in (inside_link.h) */
    pthread_t fetcher, reporter;
};

/* fetch.c. Registers the machine: until it is done, *stop, or refused for good. */
MUST_CHECK enum errc agent_enroll(struct agent *a, const _Atomic bool *stop, struct err *e);
/* The threads; p: the agent. */
void *agent_fetch(void *p);
void *agent_report(void *p);            /* report.c */

/* fetch.c. Whether it takes no further lease: it has had all that it is here for (worker.leases_max). */
bool agent_is_full(const struct agent *a);

/* kept.c. Asks, when it is time, which of the kept images may be kept. Returns when it is time again. */
int64_t agent_ask_kept(struct agent *a);

/* devices.c. Opens the cards of the machine, unless the settings say how many there are. Without a library, or where it does not
 * answer, there are none. */
void agent_find_cards(struct agent *a);
/* What is registered of this machine's GPUs, and their count into a->facts. Lies in the agent. */
struct slice agent_devices(struct agent *a);
/* Of the fetching thread: a sick card takes all out until no lease has one; then the healthy are registered anew. */
void agent_watch_cards(struct agent *a);
