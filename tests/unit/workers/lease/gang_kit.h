/* SPDX-License-Identifier: Apache-2.0 */
/* gang_kit.h - a job on two machines: two agents' executors with real children, and a stand-in for the platform at which they
 * meet. */
#pragma once
#include "executor_kit.h"

#include <pthread.h>
#include "core/crypto/x509.h"

enum { MACHINES = 2 };

/* What falaj-api and the zone's keys do for a gang. */
struct meeting {
    pthread_mutex_t lock;
    struct arena *a;
    struct x509_pair ca;
    char endpoint[MACHINES][300];
    const char *name[MACHINES];         /* in the certificate that the machine gets; the platform names m0 and m1 to the others */
    _Atomic int asked;
};

struct member {
    struct fixture f;                   /* first: its store is what the kit's functions take */
    struct meeting *at;
    int rank;
    pthread_t thread;
};
_Static_assert(offsetof(struct fixture, store) == 0, "the store of a fixture is its beginning");

#define GANG_NAME "spiffe://ae-dxb-1/lease/default/"

static inline enum errc gang_sign(void *ctx, struct arena *a, const struct lease_grant *g, struct str csr_pem, struct str *ret,
                                  struct err *e)
{
    struct member *m = ctx;
    (void)g;
    const struct x509_req r = { .common_name = STR("lease"), .uri_san = str_fmt(a, GANG_NAME "%s", m->at->name[m->rank]),
                                .is_server = true, .lifetime_s = 3600 };
    return x509_sign_csr(a, &m->at->ca, csr_pem, &r, clock_wall_us(&clock_system), ret, e);
}

static inline enum errc gang_meet(void *ctx, struct arena *a, const struct lease_grant *g, struct str endpoint,
                                  struct lease_gang_out *ret, struct err *e)
{
    struct member *m = ctx;
    struct lease_gang_member *all = ARENA_ARRAY(a, struct lease_gang_member, MACHINES);
    (void)g, (void)e;
    pthread_mutex_lock(&m->at->lock);
    snprintf(m->at->endpoint[m->rank], sizeof m->at->endpoint[0], "%.*s", STR_ARG(endpoint));
    *ret = (struct lease_gang_out){ .authority_pem = m->at->ca.cert_pem };
    for (int i = 0; i < MACHINES; i++) {
        ret->missing += !m->at->endpoint[i][0];
        all[i] = (struct lease_gang_member){ i, str_dup(a, str_c(m->at->endpoint[i])), str_fmt(a, GANG_NAME "m%d", i) };
    }
    pthread_mutex_unlock(&m->at->lock);
    if (!ret->missing)
        ret->members = (struct slice){ all, MACHINES };
    m->at->asked++;
    return ERR_OK;
}

static inline void meeting_begin(struct meeting *at)
{
    struct err e = { 0 };
    *at = (struct meeting){ .lock = PTHREAD_MUTEX_INITIALIZER, .a = arena_new(1 << 22), .name = { "m0", "m1" } };
    assert_int_equal(x509_make_ca(at->a, STR("zone"), STR("spiffe://ae-dxb-1"), clock_wall_us(&clock_system), 3600, &at->ca, &e),
                     ERR_OK);
}

static inline void member_begin(struct member *m, struct meeting *at, int rank)
{
    setup(&m->f, "1g");
    m->at = at;
    m->rank = rank;
    m->f.io.ctx = m;
    m->f.io.certificate = gang_sign;
    m->f.io.gang = gang_meet;
}

static inline struct held *member_add(struct member *m, const char *spec)
{
    struct lease_grant g = kit_grant(1 + m->rank, "train", spec);     /* a group of its own for each child of this process */
    g.rank = m->rank;
    g.nodes = MACHINES;
    kit_add_input(&g, &m->f.store, "dataset");
    return book_add(m->f.book, &g, true);
}

struct member_run { struct member *m; struct held *h; };
static inline void *member_main(void *p)
{
    struct member_run *r = p;
    executor_run(&r->m->f.env, r->h);
    return NULL;
}

static inline void members_join(struct member m[MACHINES])
{
    for (int i = 0; i < MACHINES; i++)
        pthread_join(m[i].thread, NULL);
}

static inline void members_end(struct member m[MACHINES], struct meeting *at)
{
    for (int i = 0; i < MACHINES; i++)
        teardown(&m[i].f);
    arena_free(at->a);
}

/* What the machine said of its lease. */
static inline void member_says(struct member *m, const char *event, const char *text)
{
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(m->f.book, &report);
    if (!strstr(report.ptr, event) || !strstr(report.ptr, text))
        fail_msg("rank %d: no %s, %s in %s", m->rank, event, text, report.ptr);
}
