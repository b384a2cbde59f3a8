/* SPDX-License-Identifier: Apache-2.0 */
/* executor_int.h - one run, shared by executor.c (the course of a lease), spawn.c (directory, files, child process), run_output.c
 * (outputs), run_cert.c (the listener of a kind that listens, and its certificate) and run_end.c (what is said of its end). */
#pragma once
#include "workers/lease/work_type.h"
#include "workers/lease/executor.h"
#include "workers/lease/frame.h"
#include "workers/lease/run_trace.h"
#include "workers/lease/sandbox.h"
#include "core/wire/job_result.h"
#include "workers/agent/idle.h"
#include "workers/agent/usage.h"

struct run {
    const struct executor_env *env;
    struct held *held;
    const struct lease_grant *g;
    struct arena *arena;
    struct client *client;
    char dir[400];
    int dir_lock;                       /* shared while the run lives, so that work_dir_sweep leaves its directory alone */
    struct cage *cage;
    int64_t memory_bytes;
    int inputs[INPUTS_MAX];
    int output, socket;
    int listener;                       /* of a lease that listens, until the child has it */
    char endpoint[300];                 /* where that is: the agent opened it, so no child says it is elsewhere */
    uid_t uid;                          /* the lease's own account; 0: none */
    struct keeper *keeper;              /* of a kind that keeps checkpoints */
    int keeper_end;                     /* the child's end of its socket, until the child has it */
    int door_end;                       /* of its door, the same */
    pid_t pid;
    bool was_killed;                    /* by us */
    int status;
    int64_t peak_bytes, cpu_us;         /* of the child, once it was reaped */
    struct usage usage;
    struct energy_use energy;
    struct idle idle;
    int64_t energy_asked_us;            /* by the child, the last time that a look came of it */
    struct run_trace trace;
    struct str csr;                     /* of a kind that listens: its request, once it came */
    int64_t cert_due_us;                /* when its certificate is renewed (wall clock), */
    int64_t cert_try_us;                /* and not before when that is tried (monotonic) */
    int cert_failures;
    /* how it went */
    enum lease_event stop_event;        /* asked to stop: LE_CANCEL, LE_TIMEOUT, LE_RETURN; LE_RENEW: not */
    int64_t kill_at_us, deadline_us;
    bool is_ready, has_output, has_result;
    struct uuid object_id;
    int64_t part_bytes_max;
    struct frame_result result;
    void *figures;                      /* of the kind's result schema; NULL: none came */
    struct err failed;                  /* code OK: none */
    bool image_is_flat;                 /* its image lies here unpacked (image_cache.h) */
    bool image_is_kept;                 /* it was unpacked for this lease, and is kept for the next */
    int n_dials;                        /* connections that the child asked for */
    bool asks_again;                    /* the program asked to be queued again */
    bool lost_others;                   /* of a job on several machines: it ended because of another one */
    /* of a kind that makes artifacts, before its model if it makes one: those that were sent, and the place of the next */
    struct lease_output artifacts[LEASE_OUTPUTS_MAX + 1];           /* the last one: the model */
    int artifact;                       /* file of that place; output is the model's */
    size_t n_artifacts;
    bool has_place;
};

MUST_CHECK enum errc run_dir_make(struct run *r, struct err *e);
void run_dir_leave(const struct run *r);
MUST_CHECK enum errc run_file(const struct run *r, int *ret, struct err *e);   /* without a name; gone when closed */
/* Start the child; r->socket, r->pid. */
MUST_CHECK enum errc run_spawn(struct run *r, struct err *e);
MUST_CHECK enum errc run_send_grant(struct run *r, const struct release_key *keys, struct err *e);
/* Of a kind that makes artifacts: a place and a file for the next one; its bytes are in the file, and sent. */
MUST_CHECK enum errc run_on_place(struct run *r, struct str name, struct err *e);
MUST_CHECK enum errc run_on_given(struct run *r, struct str body, struct err *e);
/* Asks for an output's place, and says it to the child with fd (-1: it has its file). r->object_id, r->part_bytes_max. */
MUST_CHECK enum errc run_give_place(struct run *r, struct str name, enum lease_output_kind kind, int fd, struct err *e);
/* Wait before the next try; false: the lease is no longer worth it, or the error is final. */
bool run_try_again(const struct run *r, enum errc rc, int n);
/* It is called by falaj-api, or by other machines of its job. */
static inline bool run_listens(const struct run *r) { return job_listens(r->g->kind) || lease_grant_is_gang(r->g); }
/* A lease that listens: opens r->listener and names r->endpoint. */
MUST_CHECK enum errc run_listen(struct run *r, struct err *e);
/* The child asks for a certificate, once: gets it, or the lease fails. */
MUST_CHECK enum errc run_on_csr(struct run *r, struct str csr_pem, struct err *e);
/* Of a job on several machines, once the child has its certificate: waits until all are there, calls those of lower ranks and
 * hands it what it needs (FRAME_PEERS). */
MUST_CHECK enum errc run_meet(struct run *r, struct err *e);
/* It ended because of another machine: true when somebody else's word ended the attempt meanwhile, so nothing is to be said. */
bool run_others_ended_it(const struct run *r);
/* Once in a while: sends a renewed one when it is due. What fails is tried again later, at growing distances. */
void run_renew_certificate(struct run *r);
/* run_energy.c: a look when one is due, at what it takes and whether it uses what it has; the last one; the child's question. */
void run_look_at_idle(struct run *r, int64_t now);
void run_look_at_energy(struct run *r, int64_t now);
void run_end_energy(struct run *r);
MUST_CHECK enum errc run_on_energy(struct run *r, struct err *e);
void run_kill(struct run *r);           /* the child and all of its group */
/* Once the child's end of the socket is closed: waits for it, kills it when it does not end by itself within two seconds, and
 * what is left of its group. Fills status, peak_bytes and cpu_us. */
void run_reap(struct run *r);
/* What the kind's figures are, by its spec's kind; NULL: it has none. */
const struct schema *run_result_schema(const struct run *r);
/* run_end.c: delivers what is to be delivered and says the end. rc: how the run went; e: why. Nothing for a lease that is
 * stale. */
void run_conclude(struct run *r, enum errc rc, struct err *e);
