/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - falaj-keyd as a handle: a zone, its provider, its cache, and the Unix socket that serves them.
 *
 * Calling order: keyd_new -> keyd_serve (returns after SIGTERM or SIGINT) -> keyd_free. SIGUSR1 seals: the provider is closed, every
 * cached key wiped, and all verbs but health answer SEALED until SIGHUP opens the provider again. A caller must have the uid of the
 * process or one of allow_uids, by SO_PEERCRED. One thread per connection, at most KEYD_CONNECTIONS; when all are taken the longest
 * idle one is closed, which clients survive. The socket appears by rename when it is ready and replaces a stale one. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include "core/base/err.h"
#include "keys/hierarchy.h"
#include "keys/provider.h"
#include "keys/tkek_cache.h"

enum { KEYD_CONNECTIONS = 64, KEYD_UIDS_MAX = 16, KEYD_IDLE_S = 60, KEYD_FRAME_S = 5, KEYD_TENANT_ROOTS_MAX = 8 };

/* A tenant whose root is in a token of its own: its tenant keys are wrapped there, and its sovereign keys live there. */
struct keyd_tenant_root {
    struct uuid tenant;
    const struct key_provider *provider;
    struct provider_config config;
};

struct keyd_options {
    const char *socket_path;
    const struct key_provider *provider;
    struct provider_config provider_config;     /* borrowed texts live as long as the keyd */
    struct keyd_tenant_root tenant_roots[KEYD_TENANT_ROOTS_MAX];
    size_t n_tenant_roots;
    uid_t allow_uids[KEYD_UIDS_MAX];
    size_t n_allow_uids;
};

struct keyd_connection {
    int fd;                         /* -1: the slot is free */
    int64_t idle_since_us;          /* 0: in a call */
    pthread_t thread;               /* these two: main thread only */
    bool has_thread;
};

struct keyd {
    struct keyd_options options;
    char zone[KEY_ZONE_MAX + 1];
    pthread_rwlock_t provider_lock; /* read: use the provider; write: seal and unseal */
    void *provider;                 /* NULL: sealed by the operator */
    void *tenant_provider[KEYD_TENANT_ROOTS_MAX];
    struct tkek_cache *cache;
    _Atomic uint64_t calls;
    pthread_mutex_t lock;           /* the connections */
    pthread_cond_t freed;
    struct keyd_connection connection[KEYD_CONNECTIONS];
    int n_connections;
};

MUST_CHECK enum errc keyd_new(const struct keyd_options *o, struct keyd **ret, struct err *e);
MUST_CHECK enum errc keyd_serve(struct keyd *k, struct err *e);
void keyd_free(struct keyd *k);
/* By an operator or by its token: verbs but health answer SEALED. Any thread. */
bool keyd_is_sealed(struct keyd *k);
/* One request frame to one reply frame; never fails: errors become a refusal. reply has KEYD_REPLY_MAX bytes reserved. (verbs.c) */
void keyd_answer(struct keyd *k, const void *frame, size_t n, struct buf *reply);
