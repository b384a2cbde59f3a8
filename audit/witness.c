/* SPDX-License-Identifier: Apache-2.0 */
/* witness.c - the rule of a witness. */
#include "audit/witness.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"

const char *witness_read(struct str line, struct head_keys keys, struct witness_ask *ret)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(sizeof(struct bundle_manifest) + sizeof(struct head_proof) + 8192);
    struct bundle_manifest *m = ARENA_NEW(a, struct bundle_manifest);
    struct head_proof *p = ARENA_NEW(a, struct head_proof);
    struct audit_head head, zone;
    if (bundle_manifest_decode(line, m)) {
        *ret = (struct witness_ask){ .head = m->head, .previous = m->previous, .has_previous = m->has_previous,
                                     .proof_len = m->previous_proof_len };
        memcpy(ret->proof, m->previous_proof, sizeof ret->proof);
        return NULL;
    }
    if (!head_proof_decode(line, p))
        return "it is neither a bundle nor a head proof";
    *ret = (struct witness_ask){ .head = p->zone_head, .previous = p->previous, .has_previous = p->has_previous,
                                 .proof_len = p->previous_proof_len };
    memcpy(ret->proof, p->previous_proof, sizeof ret->proof);
    p->has_previous = false;                /* judged against what was seen, so that a fork gives its evidence */
    return head_proof_fault(p, keys, &head, &zone);
}

bool witness_is_same_log(const struct bundle_head *a, const struct bundle_head *b)
{
    struct audit_head x, y;
    return audit_head_decode(str_n(a->body, a->len), &x) && audit_head_decode(str_n(b->body, b->len), &y) &&
        x.is_zone == y.is_zone &&
           uuid_eq(x.tenant_id, y.tenant_id) && strcmp(x.zone, y.zone) == 0;
}

/* Two heads of one size that differ. */
static const char *forked(const struct bundle_head *seen, const struct bundle_head *head, const struct audit_head *h,
                          struct head_keys keys, struct fork_file *fork, bool *is_fork)
{
    *fork = (struct fork_file){ .a = *seen, .b = *head, .root = h->root };
    *is_fork = fork_file_fault(fork, keys) == NULL;
    return "the log was forked: two different heads are signed at one size";
}

const char *witness_fault(const struct witness_ask *ask, const struct bundle_head *seen, struct head_keys keys,
    struct fork_file *fork,
                          bool *is_fork)
{
    struct audit_head head, before, previous;
    *is_fork = false;
    if (!head_is_signed(&ask->head, keys, &head))
        return "the head is not signed by a key that was given";
    if (!seen)
        return NULL;
    if (!head_is_signed(seen, keys, &before) || !witness_is_same_log(seen, &ask->head))
        return "what is kept of this log is not signed by a key that was given";
    if (head.size < before.size)
        return "the head is older than one that was co-signed";
    if (head.size == before.size)
        return merkle_eq(&head.root, &before.root) && merkle_eq(&head.chain, &before.chain) ? NULL :
               forked(seen, &ask->head, &head, keys, fork, is_fork);
    if (!ask->has_previous || !head_is_signed(&ask->previous, keys, &previous) || previous.size != before.size ||
        !witness_is_same_log(seen, &ask->previous))
        return "it does not prove that it extends the head that was co-signed";
    if (!merkle_eq(&previous.root, &before.root) || !merkle_eq(&previous.chain, &before.chain))
        return forked(seen, &ask->previous, &previous, keys, fork, is_fork);
    return merkle_verify_consistency(before.size, &before.root, head.size, &head.root, ask->proof, ask->proof_len) ? NULL :
           "the proof that it extends the head that was co-signed does not hold";
}
