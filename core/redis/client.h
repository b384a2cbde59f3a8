/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - Redis as a place for what may be lost: counters and wake-ups. The caller never waits for it.
 *
 * A background thread owns the connection: callers put a command in a bounded queue (a full queue, or a Redis that is gone, drops it)
 * and the thread sends what waits as one pipeline. It reconnects by itself with pauses from 100 ms to 2 s.
 * Reply types are checked: one that is not of the expected type closes the connection and counts as no reply.
 * Over TCP only a master is spoken to: ROLE is asked when a connection is made and once a second, and an answer READONLY closes
 * it. With Sentinels a `+switch-master` closes it too, and they are asked for the new one. Each try of a place waits at most
 * timeout_ms, after the system's resolver has found its name.
 * Invariants: redis_send never blocks on the network; every accepted command's callback runs exactly once, on the background thread.
 * Calling order: redis_opts_of -> redis_client_new -> redis_send* from any thread -> redis_client_free (waits for the try of one
 * place).
 * Not offered: scripts, transactions, Redis Cluster, and asking for a value and waiting for it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/str.h"

struct redis_client;

/* Texts are the caller's while redis_client_new and wake_listener_new run; both copy. NULL: none. */
struct redis_opts {
    const char *address;            /* "unix:/path", or "host:port[,host:port]…": whichever is master; NULL: without Redis */
    const char *master;             /* then address lists Sentinels, who are asked for the master of that name */
    const char *user, *password;    /* password alone: the old AUTH */
    const char *password_file;      /* in place of password: its first line, read for each connection */
    const char *sentinel_user, *sentinel_password_file;
    bool has_tls;                   /* 1.3, to Redis and Sentinels; files are read for each connection */
    const char *ca_file;            /* PEM of whoever signs the servers' certificates; NULL: the system's */
    const char *cert_file, *key_file;
    int timeout_ms;                 /* of connecting and of each answer, on the background thread; 0: 1 000 */
};

struct config;
/* What every program makes of its settings redis.*; texts are the config's. INVALID names the setting, what it has and what it
 * takes; files are looked at, nothing is connected. The prod profile refuses TCP without TLS. */
MUST_CHECK enum errc redis_opts_of(const struct config *c, struct redis_opts *ret, struct err *e);

enum redis_reply_type { REDIS_ANY, REDIS_INT, REDIS_STATUS };

/* ok false: dropped, not connected, an error reply or the wrong type; value is the integer of REDIS_INT. */
typedef void (*redis_reply_fn)(void *ctx, bool ok, int64_t value);

enum { REDIS_ARGS_MAX = 6, REDIS_BYTES_MAX = 512 };     /* per command */

struct redis_client *redis_client_new(const struct redis_opts *opts);   /* connects in the background */
void redis_client_free(struct redis_client *c);
void redis_client_freep(struct redis_client **c);

/* false: not queued (full, too large, or Redis is gone); fn does not run then. fn may be NULL. */
bool redis_send(struct redis_client *c, const struct str *argv, int argc, enum redis_reply_type want, redis_reply_fn fn, void *ctx);
bool redis_is_up(struct redis_client *c);
/* Was the last look (one a second, by the background thread) answered? Waits at most timeout_ms, never more than 50. For /readyz. */
MUST_CHECK enum errc redis_ping(struct redis_client *c, int timeout_ms, struct err *e);

struct redis_stats {
    int64_t sent, dropped, failed, connects;
};
void redis_client_stats(struct redis_client *c, struct redis_stats *ret);
