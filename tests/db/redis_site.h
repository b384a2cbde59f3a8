/* SPDX-License-Identifier: Apache-2.0 */
/* redis_site.h - two Redis, of which one is the other's replica, and three Sentinels, over TCP or TLS, for one test program.
 *
 * They listen on an address of 127.0.0.0/8 that is this process's own, so that ports of programs beside it never meet. Redis 0 is
 * the master at first. All ends with the program. With TLS everybody asks for certificates, the site's authority signs them. */
#pragma once
#include <stdbool.h>
#include "core/redis/client.h"

enum { SITE_REDIS = 2, SITE_SENTINELS = 3 };

struct redis_site;

struct redis_site *redis_site_new(bool has_tls);        /* the replica is in step, and all Sentinels know of each other */
void redis_site_free(struct redis_site *s);
struct redis_opts redis_site_by_sentinels(struct redis_site *s);    /* texts live as long as s */
struct redis_opts redis_site_by_list(struct redis_site *s);         /* both, the second one first */
const char *redis_site_place(struct redis_site *s, int i);          /* "address:port" of Redis i */
const char *redis_site_file(struct redis_site *s, const char *name);    /* path of a file in its folder: stranger.pem … */
void redis_site_kill(struct redis_site *s, int i);
void redis_site_start(struct redis_site *s, int i);
void redis_site_freeze(struct redis_site *s, int i, bool on);
void redis_site_kill_sentinel(struct redis_site *s, int i);
/* Is Redis i a master, as it says itself? False also when it does not answer. */
bool redis_site_is_master(struct redis_site *s, int i);
/* Is Redis i in step with `master`? */
bool redis_site_follows(struct redis_site *s, int i, int master);
/* Master and replica change places by hand; nothing is killed and no connection cut. For a site whose Sentinels are gone. */
void redis_site_swap(struct redis_site *s, int master);
