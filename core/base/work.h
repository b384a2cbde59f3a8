/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - struct work: what a service needs to act, and nothing else.
 *
 * The first argument tells what a function may do: `struct work *` = a service (acts, inside the caller's transaction),
 * `struct db_tx *` = a repository function (one SQL statement), plain data = pure (no I/O, no clock).
 * A work is made by an edge (api/pipeline, scheduler/loop, workers/agent) and dies with its arena.
 *
 * struct app is made once in main and undone in reverse order; a daemon leaves NULL what it does not have. */
#pragma once
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/id.h"
#include "core/base/str.h"
#include "core/base/trace.h"

struct config;
struct db_pool;
struct db_tx;
struct redis_client;
struct keyd_client;
struct blob_store;
struct principal;
struct api_rates;
struct capacity_cache;
struct residency_cache;
struct machines;
struct waiters;
struct policies;
struct workload;
struct local_auth;
struct audit_pii;
struct federation;
struct erasure_keeper;
struct claims;
struct bookings;
struct cycle_ring;
struct turnover;
struct otlp;

struct app {
    const char *program;
    const struct config *config;
    const struct clock *clock;
    struct db_pool *pool;           /* role falaj_app (api), falaj_scheduler (scheduler): tenant scope or system scope */
    struct db_pool *node_pool;      /* api only: role falaj_worker_api, for R_NODE rows */
    struct redis_client *redis;
    struct keyd_client *keyd;
    struct blob_store *blobs;
    struct capacity_cache *capacity; /* api only: largest machines, scheduler/mirror/capacity.h */
    struct api_rates *api_rates;        /* falaj-api only */
    struct residency_cache *residency; /* api only: where tenants' data may be, tenants/home/residency_facts.h */
    struct machines *machines;      /* falaj-scheduler only: machines as they were read, scheduler/mirror/machines.h */
    struct waiters *waiting;        /* falaj-scheduler only: jobs that wait, scheduler/mirror/waiting.h */
    struct policies *policies;      /* falaj-scheduler only: where tenants' data may be, scheduler/mirror/policies.h */
    struct workload *workload;      /* falaj-scheduler only: GPU jobs that came, scheduler/plan/workload.h */
    struct claims *claims;          /* falaj-scheduler only: jobs for which room is being made, scheduler/plan/claims.h */
    struct bookings *bookings;      /* falaj-scheduler only: who is to start later, scheduler/plan/bookings.h */
    struct cycle_ring *cycles;      /* falaj-scheduler only: what was planned of late, scheduler/replay/ring.h; NULL: not kept */
    struct turnover *turnover;      /* falaj-scheduler only: how fast leases end, scheduler/plan/turnover.h */
    struct local_auth *auth;        /* api only: sign-in secrets and password hashing, tenants/identity/local_auth.h */
    struct audit_pii *pii;          /* api only: keys of personal fields, audit/pii.h */
    struct erasure_keeper *erasures; /* api only: who was erased, outside the database, audit/erasure_keeper.h; NULL: not kept */
    struct federation *federation;  /* api only: what was fetched from outside issuers and providers, tenants/identity/outside.h */
    struct otlp *otlp;              /* spans and metrics, core/http/otlp.h; NULL: to nobody */
    void *extra;                    /* the daemon's own state (api: struct api) */
};

struct work {
    const struct app *app;
    struct arena *arena;
    struct db_tx *tx;               /* NULL outside a transaction */
    const struct principal *principal;
    struct uuid tenant_id;          /* the tenant the transaction is scoped to; nil: the platform */
    struct slice projects;          /* struct uuid: of that tenant, only these projects; empty: all of it */
    int64_t now_us;                 /* one time for the whole unit of work */
    int64_t deadline_mono_us;
    struct uuid request_uuid;
    struct str request_id;          /* as the caller gave it, or made here */
    struct trace trace;             /* this unit of work as a span; unset: of none */
    struct str source_ip;
};
