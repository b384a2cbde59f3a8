/* SPDX-License-Identifier: Apache-2.0 */
/* gang_join.c - messages with the agent in the order of frame.h, then comm_tcp_join. */
#include "workers/lease/gang_join.h"

#include <stdio.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/x509.h"
#include "core/json/decode.h"
#include "workers/gang/comm_tcp.h"

/* A rank waits so long for another: for its start, and for what it does alone, as a checkpoint. Who dies is noticed at once,
 * and whose machine is lost when its lease ends. */
enum { SILENCE_MS = 600000 };

/* What all ranks must agree on: the spec, the data, this program and how it computes; and the step they go on from. The attempt
 * is in their certificates. */
static void digest_of(const struct child *c, int64_t from, unsigned char out[32])
{
    const struct str spec = c->grant.lease.spec.text;
    const char *how = c->backend ? c->backend->name : "program";
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, spec.ptr, spec.len);
    sha256_add(&s, FALAJ_VERSION, sizeof FALAJ_VERSION);
    sha256_add(&s, how, strlen(how));
    for (size_t i = 0; i < c->n_inputs; i++)
        sha256_add(&s, c->inputs[i].about.sha256.ptr, c->inputs[i].about.sha256.len);
    sha256_final(&s, out);
    for (int i = COMM_TCP_WHAT; i < 32; i++)
        out[i] = (unsigned char)((uint64_t)from >> 8 * (i - COMM_TCP_WHAT));
}

static enum errc expect(char *room, enum frame_type type, struct frame *f, struct err *e)
{
    *f = (struct frame){ 0 };
    TRY(frame_receive(FRAME_FD, room, f, e));
    if (f->type == type)
        return ERR_OK;
    frame_close_fds(f);
    return FAIL(e, INVALID, "the agent sent message %d where %d was expected", (int)f->type, (int)type);
}

/* *ret: cert_pem and key_pem. */
static enum errc certify(struct child *c, char *room, struct x509_pair *ret, struct err *e)
{
    struct frame f;
    TRY(x509_make_csr(c->arena, STR("falaj lease"), ret, e));
    TRY(frame_send(FRAME_FD, FRAME_CSR, STR_NULL, ret->cert_pem, NULL, 0, true, e));
    TRY(expect(room, FRAME_CERT, &f, e));
    frame_close_fds(&f);
    ret->cert_pem = str_dup(c->arena, f.body);
    return ERR_OK;
}

/* Takes the sockets over. */
static enum errc read_peers(struct child *c, const struct frame *f, struct comm_peer *peers, struct str *ret_authority,
                            struct err *e)
{
    struct lease_gang_out all = { 0 };
    const int64_t nodes = c->grant.lease.nodes, rank = c->grant.lease.rank;
    TRY(json_decode(&lease_gang_out_schema, f->body, c->arena, &all, e));
    const struct lease_gang_member *m = all.members.items;
    if (nodes < 1 || nodes > COMM_RANKS_MAX || (int64_t)all.members.n != nodes || (int64_t)f->nfds != rank)
        return FAIL(e, INVALID, "rank %ld of %ld was told of %zu machines and given %zu connections", (long)rank, (long)nodes,
                    all.members.n, f->nfds);
    *ret_authority = all.authority_pem;
    for (int64_t i = 0; i < nodes; i++)
        peers[i] = (struct comm_peer){ .name = m[i].identity, .connected = i < rank ? f->fds[i] : 0 };
    return ERR_OK;
}

static enum errc join(struct child *c, int64_t from, const struct x509_pair *pair, struct frame *f, struct comm **ret,
                      struct err *e)
{
    struct comm_peer peers[COMM_RANKS_MAX] = { 0 };
    struct tls_identity own = { .cert_pem = pair->cert_pem, .key_pem = pair->key_pem, .peers_serve = true };
    struct comm_tcp_gang g = { .rank = (int)c->grant.lease.rank, .size = (int)c->grant.lease.nodes, .peers = peers, .own = &own,
                               .silence_ms = SILENCE_MS };
    enum errc rc = read_peers(c, f, peers, &own.ca_pem, e);
    if (rc != ERR_OK) {
        frame_close_fds(f);
        return rc;
    }
    digest_of(c, from, g.run);
    return comm_tcp_join(&g, c->listener, ret, e);
}

enum errc gang_join(struct child *c, int64_t from, struct comm **ret, struct err *e)
{
    char *room = arena_alloc(c->arena, FRAME_MAX);
    struct x509_pair pair = { 0 };
    struct frame f;
    enum errc rc = certify(c, room, &pair, e);
    if (rc == ERR_OK)
        rc = expect(room, FRAME_PEERS, &f, e);
    if (rc == ERR_OK)
        rc = join(c, from, &pair, &f, ret, e);
    secret_wipe((void *)(uintptr_t)pair.key_pem.ptr, pair.key_pem.len);
    if (rc == ERR_OK)
        child_log(c, "info: rank %ld of %ld machines: all are there", (long)c->grant.lease.rank, (long)c->grant.lease.nodes);
    return rc;
}

enum errc gang_failed(const struct comm *comm, struct err *e)
{
    const bool is_lost = comm ? comm_tcp_was_lost(comm) : e->code == ERR_UPSTREAM || e->code == ERR_DEADLINE;
    if (!is_lost || frame_send(FRAME_FD, FRAME_ALONE, STR_NULL, str_c(e->msg), NULL, 0, true, NULL) != ERR_OK)
        return e->code;
    return FAIL(e, RETRY, "another machine ended it");
}
