/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - one job's events as they happen, until it ends (GET /v1/jobs/{id}/events as text/event-stream).
 *
 * A lost connection is taken up again with Last-Event-ID, so nothing is shown twice and nothing is missed. Ctrl-C stops following
 * and ends the program with 130; the job goes on. Following ends with FAILED once nobody reads standard output (`… | head`). */
#pragma once
#include "cli/command.h"

enum { FOLLOW_LOGS = 1, FOLLOW_STATES = 2, FOLLOW_METRICS = 4 };

struct follow {
    struct cli *c;
    const char *job;                /* id */
    const char *token;              /* NULL: the profile's */
    unsigned show;                  /* what follow_run prints itself */
    FILE *logs;                     /* where the log goes; NULL: standard output */
    int64_t timeout_s;              /* 0: none */
    /* Gets every event instead of printing; type is "state", "log", "metric" or "end". */
    void (*on_event)(void *ctx, const char *type, const struct jval *data);
    bool (*is_unwanted)(void *ctx); /* asked now and then; true ends it with FAILED. NULL: only nobody who reads it ends it */
    void *ctx;
    char state[40];                 /* out: the last state seen */
};

/* CLI_OK: COMPLETED. CLI_JOB_FAILED: any other end. Else an exit code after a message. */
int follow_run(struct follow *f);
bool follow_is_end(const char *state);
void follow_print_log(FILE *out, const struct jval *line);
