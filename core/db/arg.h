/* SPDX-License-Identifier: Apache-2.0 */
/* arg.h - typed values for the parameters of a statement.
 *
 *     db_one(tx, &job_get, ARGS(A_UUID(tenant), A_UUID(id)), &job, e)
 *
 * The letter of each argument must be the letter of the statement (ASSERT). Values are borrowed until the call returns.
 * Arrays come from a plain array (A_UUIDS(ids, n)) or straight out of an array of structs, without copying it first:
 *     A_UUIDS_OF(items, n, job_id)   takes items[i].job_id
 *     A_UUIDS_VIA(calls, n, job_id)  takes calls[i]->job_id; calls is an array of pointers
 * A NULL element: a string with ptr NULL, a time that is 0, an id that is nil in A_UUIDS_OR_NULL*. Not offered: arrays of arrays. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/clock.h"
#include "core/base/id.h"
#include "core/base/str.h"

struct arg {
    char type;              /* the letter of stmt.params */
    bool is_null;
    bool nil_is_null;       /* elements of an id array */
    bool via;               /* base is an array of pointers: element i is at ((char **)base)[i] + offset */
    union {
        struct uuid u;
        struct str s;
        int64_t i;
        double f;
        bool b;
        struct {
            const void *base;
            size_t n, stride, offset;
        } arr;
    };
};

static inline struct arg arg_uuid(struct uuid u) { return (struct arg){ 'u', .u = u }; }
static inline struct arg arg_uuid_or_null(struct uuid u) { return (struct arg){ 'u', .is_null = uuid_is_nil(u), .u = u }; }
static inline struct arg arg_text(char type, struct str s) { return (struct arg){ type, .is_null = !s.ptr, .s = s }; }
static inline struct arg arg_i64(int64_t i) { return (struct arg){ 'i', .i = i }; }
static inline struct arg arg_f64(double f) { return (struct arg){ 'f', .f = f }; }
static inline struct arg arg_bool(bool b) { return (struct arg){ 'b', .b = b }; }
static inline struct arg arg_time(struct timestamp t) { return (struct arg){ 't', .is_null = t.us == 0, .i = t.us }; }
static inline struct arg arg_array(char type, const void *base, size_t n, size_t stride, size_t offset)
{
    return (struct arg){ type, .arr = { base, n, stride, offset } };
}
static inline struct arg arg_nil_null(struct arg a)
{
    a.nil_is_null = true;
    return a;
}
static inline struct arg arg_via(struct arg a)
{
    a.via = true;
    return a;
}

#define A_UUID(u) arg_uuid(u)
#define A_UUID_OR_NULL(u) arg_uuid_or_null(u)           /* nil: NULL */
#define A_STR(s) arg_text('s', (s))                     /* ptr NULL: NULL */
#define A_TEXT(cstr) arg_text('s', str_c(cstr))         /* NULL: NULL; also for enum names */
#define A_I64(i) arg_i64(i)
#define A_F64(f) arg_f64(f)
#define A_BOOL(b) arg_bool(b)
#define A_TIME(t) arg_time(t)                           /* struct timestamp; 0: NULL */
#define A_TIME_US(us_) arg_time((struct timestamp){ (us_) })
#define A_JSON(s) arg_text('j', (s))
#define A_BYTES(ptr_, len_) arg_text('y', str_n((const char *)(ptr_), (len_)))
#define A_NULL(letter) ((struct arg){ (letter), .is_null = true })

#define ARG_ARRAY_(letter, ptr_, n, type)                                                                      \
    ({                                                                                                          \
        const type *arg_base_ = (ptr_);                                                                         \
        arg_array((letter), arg_base_, (n), sizeof(type), 0);                                                   \
    })
#define A_UUIDS(ptr_, n) ARG_ARRAY_('U', ptr_, n, struct uuid)
#define A_UUIDS_OR_NULL(ptr_, n) arg_nil_null(A_UUIDS(ptr_, n))
#define A_STRS(ptr_, n) ARG_ARRAY_('S', ptr_, n, struct str)
#define A_I64S(ptr_, n) ARG_ARRAY_('I', ptr_, n, int64_t)
#define A_F64S(ptr_, n) ARG_ARRAY_('F', ptr_, n, double)
#define A_BOOLS(ptr_, n) ARG_ARRAY_('B', ptr_, n, bool)
#define A_TIMES(ptr_, n) ARG_ARRAY_('T', ptr_, n, struct timestamp)
#define A_JSONS(ptr_, n) ARG_ARRAY_('J', ptr_, n, struct str)
#define A_BYTESS(ptr_, n) ARG_ARRAY_('Y', ptr_, n, struct str)

/* From an array of structs: the member's type is checked by the compiler. */
#define ARG_CHECK_(lvalue, type) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(lvalue), type), "the member is not a " #type)
#define ARG_OF_(letter, items, n, member, type)                                                                 \
    ({                                                                                                          \
        ARG_CHECK_((items)->member, type);                                                                      \
        arg_array((letter), (items), (n), sizeof *(items), offsetof(__typeof__(*(items)), member));             \
    })
#define A_UUIDS_OF(items, n, member) ARG_OF_('U', items, n, member, struct uuid)
#define A_UUIDS_OR_NULL_OF(items, n, member) arg_nil_null(A_UUIDS_OF(items, n, member))
#define A_STRS_OF(items, n, member) ARG_OF_('S', items, n, member, struct str)
#define A_I64S_OF(items, n, member) ARG_OF_('I', items, n, member, int64_t)
#define A_F64S_OF(items, n, member) ARG_OF_('F', items, n, member, double)
#define A_BOOLS_OF(items, n, member) ARG_OF_('B', items, n, member, bool)
#define A_TIMES_OF(items, n, member) ARG_OF_('T', items, n, member, struct timestamp)
#define A_JSONS_OF(items, n, member) ARG_OF_('J', items, n, member, struct str)
#define A_BYTESS_OF(items, n, member) ARG_OF_('Y', items, n, member, struct str)

/* From an array of pointers to structs, as a combiner holds them: items[i]->member. */
#define ARG_VIA_(letter, items, n, member, type)                                                                \
    ({                                                                                                          \
        ARG_CHECK_((*(items))->member, type);                                                                   \
        arg_via(arg_array((letter), (items), (n), sizeof *(items), offsetof(__typeof__(**(items)), member)));   \
    })
#define A_UUIDS_VIA(items, n, member) ARG_VIA_('U', items, n, member, struct uuid)
#define A_UUIDS_OR_NULL_VIA(items, n, member) arg_nil_null(A_UUIDS_VIA(items, n, member))
#define A_STRS_VIA(items, n, member) ARG_VIA_('S', items, n, member, struct str)
#define A_I64S_VIA(items, n, member) ARG_VIA_('I', items, n, member, int64_t)
#define A_F64S_VIA(items, n, member) ARG_VIA_('F', items, n, member, double)
#define A_BOOLS_VIA(items, n, member) ARG_VIA_('B', items, n, member, bool)
#define A_TIMES_VIA(items, n, member) ARG_VIA_('T', items, n, member, struct timestamp)
#define A_JSONS_VIA(items, n, member) ARG_VIA_('J', items, n, member, struct str)
#define A_BYTESS_VIA(items, n, member) ARG_VIA_('Y', items, n, member, struct str)

/* Two arguments of a call: the values and their count. */
#define ARGS(...) (const struct arg[]){ __VA_ARGS__ }, (int)(sizeof((const struct arg[]){ __VA_ARGS__ }) / sizeof(struct arg))
#define NO_ARGS NULL, 0
