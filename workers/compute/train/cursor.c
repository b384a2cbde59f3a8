/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.c - one table of the members, by which they are written and read. */
#include "workers/compute/train/cursor.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct cursor, member)
static const struct member {
    const char *name;
    size_t at;
    bool is_real, may_lack;                 /* a checkpoint of a release before has it not: 0 */
} members[] = {
    { "epoch", AT(epoch), false }, { "taken", AT(taken), false }, { "rounds", AT(rounds), false }, { "items", AT(items), false },
    { "loss_sum", AT(loss_sum), true }, { "bad_epochs", AT(bad_epochs), false }, { "skipped", AT(skipped), false },
    { "in_a_row", AT(in_a_row), false }, { "rollbacks", AT(rollbacks), false }, { "factor", AT(factor), true },
    { "grad_norm", AT(grad_norm), true }, { "seconds", AT(seconds), true },
    { "joules", AT(joules), true, .may_lack = true },
    { "last_epoch", AT(last.epoch), false }, { "last_train_loss", AT(last.train_loss), true },
    { "last_holdout_loss", AT(last.holdout_loss), true }, { "last_holdout_accuracy", AT(last.holdout_accuracy), true },
    { "best_epoch", AT(best.epoch), false }, { "best_train_loss", AT(best.train_loss), true },
    { "best_holdout_loss", AT(best.holdout_loss), true }, { "best_holdout_accuracy", AT(best.holdout_accuracy), true },
};
enum { MEMBERS = sizeof members / sizeof *members };
_Static_assert((int)MEMBERS + 1 <= (int)CKPT_PAIRS_MAX, "the metadata has room for all members");

static bool bits_parse(struct str s, double *ret)
{
    unsigned char b[8];
    uint64_t u = 0;
    if (!hex_decode(s, b, 8))
        return false;
    for (int i = 0; i < 8; i++)
        u = u << 8 | b[i];
    memcpy(ret, &u, sizeof u);
    return true;
}

size_t cursor_pairs(struct arena *a, const struct cursor *c, struct st_pair ret[CKPT_PAIRS_MAX])
{
    for (size_t i = 0; i < MEMBERS; i++) {
        uint64_t bits;
        memcpy(&bits, (const char *)c + members[i].at, sizeof bits);
        ret[i] = (struct st_pair){ str_c(members[i].name), members[i].is_real ? str_fmt(a, "%016llx", (unsigned long long)bits)
                                                                             : str_fmt(a, "%lld", (long long)bits) };
    }
    return MEMBERS;
}

enum errc cursor_read(const struct ckpt *k, struct cursor *ret, struct err *e)
{
    struct cursor c = { .step = k->step };
    for (size_t i = 0; i < MEMBERS; i++) {
        struct str s = st_meta(&k->file, members[i].name);
        void *at = (char *)&c + members[i].at;
        if (!s.ptr && members[i].may_lack)
            continue;
        if (members[i].is_real ? !bits_parse(s, at) : !str_to_i64(s, 0, INT64_MAX, at))
            return FAIL(e, DAMAGED, "the checkpoint's member %s is missing or no number", members[i].name);
    }
    *ret = c;
    return ERR_OK;
}
