/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_faults.h - a self-test that goes on after a difference and tells every one: for who looks for what is wrong on a
 * machine. */
#pragma once
#include "workers/compute/kernels/backend.h"

struct selftest_faults {
    void (*on_fault)(struct selftest_faults *f, const char *why);
    size_t first, cases;                /* cases before `first` are left out; how many there were, those too */
};
/* The next case begins; false: it is left out. f may be NULL. */
static inline bool selftest_case(struct selftest_faults *f)
{
    return !f || f->cases++ >= f->first;
}
static inline enum errc selftest_fault(struct selftest_faults *f, const struct err *e)
{
    if (!f)
        return e->code;
    f->on_fault(f, e->msg);
    return ERR_OK;
}
/* backend_selftest, with f. */
enum errc backend_selftest_all(const struct backend *be, struct selftest_faults *f, struct err *e);
