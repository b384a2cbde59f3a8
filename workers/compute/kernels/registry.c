/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the list of kernel variants and the choice among them: compiled in, probe passes, self-test passes, highest rank.
 *
 * A variant that fails its self-test is passed over and reported, never used silently; "ref" is last and always runs. */
#include "workers/compute/kernels/backend.h"

#include <string.h>

static const struct backend *const all[] = {
#if defined(__x86_64__)
    &backend_avx512bf16,
    &backend_avx512vnni,
    &backend_avx512,
    &backend_avx2,
#endif
    &backend_ref,
    NULL,
};

const struct op_row *op_row(enum op op)
{
    static const struct op_row rows[OP_COUNT] = {
#define OP(NAME, name, key, in_min, in_max, outs, writes, takes_over, flags, shape, grad) \
    { #name, key, in_min, in_max, outs, writes, takes_over, flags },
#include "workers/compute/kernels/op.def"
#undef OP
    };
    return &rows[op];
}

const char *op_name(enum op op)
{
    return op_row(op)->name;
}

const char *elem_name(enum elem t)
{
    static const char *const names[ELEM_COUNT] = {
#define ELEM(NAME, name, bytes) #name,
#include "workers/compute/kernels/elem.def"
#undef ELEM
    };
    return names[t];
}

bool backend_can(const struct backend *be, enum op op, enum elem type)
{
    return (*be->kernels)[op][type] != NULL;
}

enum errc backend_require(const struct backend *be, enum op op, enum elem type, struct err *e)
{
    if (backend_can(be, op, type))
        return ERR_OK;
    return FAIL(e, UNPROCESSABLE, "backend %s has no %s for %s", be->name, op_name(op), elem_name(type));
}

const struct backend *const *backend_list(void)
{
    return all;
}

/* Also of those on a card, which are in no list: who goes through all of them means the processor's. */
static const struct backend *by_name(const char *name)
{
    for (size_t i = 0; all[i]; i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return strcmp(backend_cuda.name, name) ? NULL : &backend_cuda;
}

static enum errc choose_forced(const char *setting, const struct hw *hw, const struct backend **ret, struct err *e)
{
    const struct backend *be = by_name(setting);
    if (be) {
        if (!be->probe(hw))
            return FAIL(e, UNAVAILABLE, "worker.backend is \"%s\", which this machine cannot run", setting);
        TRY(backend_selftest(be, e));
        *ret = be;
        return ERR_OK;
    }
    return FAIL_AT(e, INVALID, "/worker/backend",
                   "there is no backend \"%s\" in this build; auto, cuda, avx512bf16, avx512vnni, avx512, avx2 and ref are known",
                   setting);
}

enum errc backend_choose(const char *setting, const struct hw *hw, void (*on_skip)(void *ctx, const char *name, const char *why),
                         void *ctx, const struct backend **ret, struct err *e)
{
    if (setting && *setting && strcmp(setting, "auto"))
        return choose_forced(setting, hw, ret, e);
    const struct backend *best = NULL;
    for (size_t i = 0; all[i]; i++) {
        struct err test;
        if (best && all[i]->rank <= best->rank)
            continue;
        if (!all[i]->probe(hw)) {
            if (on_skip)
                on_skip(ctx, all[i]->name, "the processor or the operating system lacks it");
        } else if (backend_selftest(all[i], &test) != ERR_OK) {
            if (on_skip)
                on_skip(ctx, all[i]->name, test.msg);
        } else {
            best = all[i];
        }
    }
    if (!best)
        return FAIL(e, INTERNAL, "no compute backend passes its self-test");
    *ret = best;
    return ERR_OK;
}
