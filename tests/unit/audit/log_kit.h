/* SPDX-License-Identifier: Apache-2.0 */
/* log_kit.h - keys, and logs of made-up events with their chain, roots and signed heads. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "audit/bundle.h"
#include "audit/chain.h"
#include "audit/record.h"
#include "audit/verify.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/crypto/sign.h"

struct key {
    struct secret32 seed;
    uint8_t pub[32];
    char id[AUDIT_KEY_ID];
};
static inline struct key *key_make(void)
{
    struct err e;
    struct key *k = calloc(1, sizeof *k);
    uint8_t id[32];
    ASSERT(ed25519_keygen(&k->seed, k->pub, &e) == ERR_OK);
    ed25519_key_id(k->pub, id);
    hex_encode(id, 32, k->id);
    return k;
}
static inline void key_free(struct key *k)
{
    secret32_wipe(&k->seed);
    free(k);
}

struct log_entry {
    struct buf body;
    struct merkle_hash leaf, chain;
};
struct log {
    struct uuid tenant;
    size_t n;
    size_t opened_from;         /* entries from this number on have leaves that can be opened; 0: none */
    struct log_entry *e;        /* e[0] is entry 1 */
};

static inline uint32_t rnd(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline void log_leaf(const struct log *l, size_t i, struct merkle_hash *ret)
{
    static struct audit_view view;
    struct str body = buf_str(&l->e[i].body);
    struct audit_fields f;
    merkle_leaf(body.ptr, body.len, ret);
    if (!l->opened_from || i + 1 < l->opened_from || !audit_record_read(body, &view))
        return;
    audit_fields_of(&view, ret, &f);
    *ret = f.leaf;
}

static inline void log_rechain(struct log *l, size_t from)
{
    struct merkle_hash h;
    chain_start(l->tenant, &h);
    for (size_t i = 0; i < l->n; i++) {
        if (i >= from) {
            log_leaf(l, i, &l->e[i].leaf);
            chain_next(&h, &l->e[i].leaf, &l->e[i].chain);
        }
        h = l->e[i].chain;
    }
}

static inline void event_make(struct uuid tenant, uint32_t *seed, struct buf *b)
{
    struct audit_event ev = { .event_id = uuid_v7(1700000000000000 + rnd(seed)), .zone = STR("ae-dxb-1"), .tenant_id = tenant,
        .ts_us = 1700000000000000 + rnd(seed), .code = (enum audit_code)(rnd(seed) % AUDIT_CODE_COUNT), .actor = AUDIT_USER,
        .actor_id = uuid_v7(1), .roles = { STR("ml-engineer") }, .role_count = 1, .src_ip = STR("10.1.2.3"),
        .request_id = STR("req-1"), .resource_kind = STR("job"), .resource_prefix = "job", .resource_id = uuid_v7(2),
        .rule = STR("role:ml-engineer"), .http_status = 201 };
    audit_event_detail(&ev, AUDIT_D_INT("gpus", rnd(seed) % 8));
    *b = BUF(AUDIT_BODY_MAX);
    ASSERT(audit_event_encode(&ev, b));
}

static inline struct log *log_make(struct uuid tenant, size_t n, uint32_t seed)
{
    struct log *l = calloc(1, sizeof *l);
    l->tenant = tenant;
    l->n = n;
    l->e = calloc(n + 8, sizeof *l->e);
    for (size_t i = 0; i < n; i++)
        event_make(tenant, &seed, &l->e[i].body);
    log_rechain(l, 0);
    return l;
}
static inline void log_free(struct log *l)
{
    for (size_t i = 0; i < l->n; i++)
        buf_release(&l->e[i].body);
    free(l->e);
    free(l);
}

static inline void log_root(const struct log *l, uint64_t start, uint64_t end, struct merkle_hash *ret)
{
    struct merkle_frontier f = { 0 };
    for (uint64_t i = start; i < end; i++)
        merkle_add(&f, &l->e[i].leaf);
    merkle_frontier_root(&f, ret);
}

static inline void log_head(const struct log *l, uint64_t size, const struct key *k, struct bundle_head *ret,
                            struct audit_head *head)
{
    struct buf b = BUF(HEAD_BODY_MAX);
    struct err e;
    *head = (struct audit_head){ .tenant_id = l->tenant, .zone = "ae-dxb-1", .size = size, .ts_us = 1700000000000000 };
    log_root(l, 0, size, &head->root);
    head->chain = l->e[size - 1].chain;
    snprintf(head->key_id, sizeof head->key_id, "%s", k->id);
    ASSERT(audit_head_encode(head, &b));
    memcpy(ret->body, b.ptr, b.len);
    ret->len = b.len;
    ASSERT(ed25519_sign(&k->seed, b.ptr, b.len, ret->sig, &e) == ERR_OK);
    buf_release(&b);
}

static inline bool log_matches(const struct log *l, uint64_t tseq, const struct audit_filter *f)
{
    static struct audit_view view;
    return audit_record_read(buf_str(&l->e[tseq - 1].body), &view) && audit_filter_match(&view, f);
}
