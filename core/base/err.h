/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - the one error type: a code that steers, and a struct that explains.
 *
 * A function that can fail returns enum errc and takes struct err *e last. The struct lives on the edge's stack and allocates
 * nothing, so it works when memory does not. `msg` may be shown to the caller; `detail` (SQLSTATE, errno, peer) goes only to the
 * log; `field` is an RFC 6901 JSON pointer. Results are written only on success.
 *
 *     enum errc job_get(struct work *w, struct uuid id, struct job *ret, struct err *e);
 *     TRY(job_get(w, id, &job, e));
 *     if (job.gpus > max) return FAIL(e, INVALID, "%ld GPUs asked, %ld exist", …);
 *
 * Only an edge (pipeline, loop, agent) logs an error, once. Bugs are ASSERT, input never is. */
#pragma once
#include <stddef.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

enum errc {
#define ERR(name, wire, http, retry, title) ERR_##name,
#include "core/base/err.def"
#undef ERR
    ERR_COUNT
};

enum err_retry { RETRY_NEVER, RETRY_BACKOFF, RETRY_NOW };

struct err {
    enum errc code;
    char msg[256];
    char detail[400];
    char field[96];
    const char *file;
    int line;
};

struct err_row {
    const char *name;   /* "NOT_FOUND" */
    const char *wire;   /* "not_found", stable */
    int http;
    enum err_retry retry;
    const char *title;
};

/* The row of a code; any unknown value gives INTERNAL's row. */
const struct err_row *err_row(enum errc code);
/* The code whose wire name is s, or ERR_COUNT. */
enum errc err_by_wire(const char *s);

/* Fill e and return the code. Keeps nothing of an earlier error. e may be NULL. */
enum errc err_set(struct err *e, enum errc code, const char *file, int line, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Append to detail on the way up: err_note(e, "while renewing lease %s", id). Returns e's code. */
enum errc err_note(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Name the offending member (JSON pointer, "/gpus" or "/inputs/0/name"). Returns e's code. */
enum errc err_field(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Append to detail the text of errno. Returns e's code. */
enum errc err_errno(struct err *e, int errnum);
void err_clear(struct err *e);

#define FAIL(e, CODE, ...) err_set((e), ERR_##CODE, __FILE__, __LINE__, __VA_ARGS__)
/* An error at a member: FAIL_AT(e, INVALID, "/gpus", "must be at most %d", 64) */
#define FAIL_AT(e, CODE, pointer, ...) \
    ({                                                                          \
        enum errc at_rc_ = err_set((e), ERR_##CODE, __FILE__, __LINE__, __VA_ARGS__); \
        err_field((e), "%s", (pointer));                                        \
        at_rc_;                                                                 \
    })
#define TRY(call)                       \
    do {                                \
        enum errc try_rc_ = (call);     \
        if (try_rc_ != ERR_OK)          \
            return try_rc_;             \
    } while (0)
