/* SPDX-License-Identifier: Apache-2.0 */
/* outside_int.h - what outside.c (fetching, tokens' principals) and outside_document.c (documents) share: a fixed number of
 * places in memory, and nothing grows. */
#pragma once
#include <pthread.h>
#include "tenants/identity/outside.h"

enum { DOCUMENTS = 1024, TENANT_DOCUMENTS = 64, PRINCIPALS = 1024, HOSTS = 256, RECORDS = 512 };

struct document {
    struct uuid owner, tenant;
    char *url, *text;               /* heap; text NULL: never fetched with success */
    int64_t fetched_us, tried_us;   /* 0: never */
    bool is_fetching;
};

struct remembered {
    uint8_t hash[32];
    struct principal *principal;
    int64_t until_us;
};

/* A host that failed one of a tenant's fetches. What collides is forgotten. */
struct slow_host {
    uint64_t key;
    int64_t until_us, pause_us;
};

/* How a tenant's last fetch went: a place is held for 5 s by what hangs, so who is known for that gets few. */
enum manner { STRANGER, ANSWERED, HUNG, MANNERS };
struct record {
    struct uuid tenant;
    enum manner manner;
    int64_t at_us;
};

/* A thread that fetches or waits for who does. */
struct slot {
    struct uuid tenant;
    enum manner manner;             /* of the tenant when it came */
    bool is_used;
};

struct federation {
    pthread_mutex_t lock;           /* guards all below but the reach */
    pthread_cond_t fetched;
    struct document documents[DOCUMENTS];
    struct remembered principals[PRINCIPALS];
    struct slot slots[OUTSIDE_FETCHES_MAX];
    struct record records[RECORDS];
    struct slow_host hosts[HOSTS];
    struct outside_reach reach;
};

/* Under the lock. A place for a fetch of the tenant, or for waiting for one; NULL: UNAVAILABLE, in e. */
struct slot *outside_slot_take(struct federation *f, struct uuid tenant, struct err *e);
/* Without the lock, as the others. */
void outside_slot_give(struct federation *f, struct slot *s);
/* One exchange of who has a place. */
enum errc outside_fetch_in_slot(const struct app *app, struct arena *a, const struct outside_call *call, int *ret_status,
                                struct str *ret_body, struct err *e) MUST_CHECK;
