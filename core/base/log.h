/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - structured logs on standard error: one line per event, JSON or logfmt.
 *
 *     log_event(LOG_INFO, "lease.granted", "lease_id", LOG_ID("lse", id), "node", LOG_S(node), "took_us", LOG_I(n), NULL);
 *
 * The event name is a constant; values are typed by the LOG_* makers. Never pass a secret, a body or another tenant's data.
 * Thread-safe: one write(2) per line, or for some that log_hold kept together. The level and format are process-wide (set in main; the level may change); a thread's context fields
 * (request id, tenant) are set by log_context and stand on every line of that thread until cleared. */
#pragma once
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOGFMT, LOGJSON };

struct log_value {
    enum { LV_STR, LV_INT, LV_F64, LV_ID } kind;
    struct str s;
    int64_t i;
    double f;
    struct uuid u;
};

#define LOG_S(cstr) ((struct log_value){ LV_STR, .s = str_c(cstr) })
#define LOG_STR(str_) ((struct log_value){ LV_STR, .s = (str_) })
#define LOG_I(int_) ((struct log_value){ LV_INT, .i = (int64_t)(int_) })
#define LOG_F(f64_) ((struct log_value){ LV_F64, .f = (f64_) })
#define LOG_ID(prefix, uuid_) ((struct log_value){ LV_ID, .s = str_c(prefix), .u = (uuid_) })

void log_setup(const char *program, enum log_level level, enum log_format format, int fd);
void log_level_set(enum log_level level);
bool log_enabled(enum log_level level);
/* Pairs of (const char *name, struct log_value), ended by NULL. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));
/* Logs an error with its code, message, detail, field and place. */
void log_err(enum log_level level, const char *event, const struct err *e);
/* Lines of this thread are kept, up to 4 KiB of them, until log_release writes them at once: for a thread that says much in
 * little time. A pipe takes so much whole, so no line of another thread comes between. Not nested; a crash loses what is held. */
void log_hold(void);
void log_release(void);
/* Context of this thread; NULL request_id clears. The strings must outlive the context. */
void log_context(const char *request_id, const char *tenant);
