/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - reading and writing `traceparent`: version "-" trace id "-" span id "-" flags, in lower-case hexadecimal. */
#include "core/base/trace.h"

enum { PART_LENGTH = 55, FLAG_SAMPLED = 1 };

static bool is_zero(const uint8_t *p, size_t n)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= p[i];
    return !any;
}

bool trace_is_set(const struct trace *t)
{
    return !is_zero(t->trace_id, sizeof t->trace_id);
}

static bool is_lower_hex(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
            return false;
    return true;
}

static bool hex_part(struct str all, size_t at, uint8_t *out, size_t n)
{
    struct str part = str_n(all.ptr + at, 2 * n);
    return is_lower_hex(part) && hex_decode(part, out, n);
}

bool trace_parse(struct str s, struct trace *ret)
{
    struct trace t = { 0 };
    uint8_t version, flags;
    if (s.len < PART_LENGTH || s.ptr[2] != '-' || s.ptr[35] != '-' || s.ptr[52] != '-')
        return false;
    if (!hex_part(s, 0, &version, 1) || version == 0xff || (s.len > PART_LENGTH && (version == 0 || s.ptr[PART_LENGTH] != '-')))
        return false;
    if (!hex_part(s, 3, t.trace_id, sizeof t.trace_id) || !hex_part(s, 36, t.span_id, sizeof t.span_id)
        || !hex_part(s, 53, &flags, 1))
        return false;
    if (!trace_is_set(&t) || is_zero(t.span_id, sizeof t.span_id))
        return false;
    t.is_sampled = flags & FLAG_SAMPLED;
    *ret = t;
    return true;
}

void trace_print(const struct trace *t, char out[TRACE_TEXT])
{
    memcpy(out, "00-", 3);
    hex_encode(t->trace_id, sizeof t->trace_id, out + 3);
    out[35] = '-';
    hex_encode(t->span_id, sizeof t->span_id, out + 36);
    memcpy(out + 52, t->is_sampled ? "-01" : "-00", 4);
}

/* The last seven bytes are random, so of all traces a share lies below that share of their range. */
static bool is_drawn(const uint8_t trace_id[16], int64_t sample)
{
    uint64_t r = 0;
    for (int i = 9; i < 16; i++)
        r = r << 8 | trace_id[i];
    return r / (((UINT64_C(1) << 56) + TRACE_ALL - 1) / TRACE_ALL) < (uint64_t)(sample > 0 ? sample : 0);
}

struct trace trace_begin(int64_t sample)
{
    struct trace t = { 0 };
    do
        id_random(t.trace_id, sizeof t.trace_id);
    while (!trace_is_set(&t));
    t = trace_child(&t);
    t.is_sampled = is_drawn(t.trace_id, sample);
    return t;
}

struct trace trace_child(const struct trace *of)
{
    struct trace t = *of;
    do
        id_random(t.span_id, sizeof t.span_id);
    while (is_zero(t.span_id, sizeof t.span_id));
    return t;
}

/* The first span's name is drawn from the job's id too, so that who tells a later one can name it as its parent. */
struct trace trace_of_job(struct uuid job_id, int64_t sample)
{
    struct trace t;
    memcpy(t.trace_id, job_id.b, sizeof t.trace_id);
    uint64_t h = str_hash(str_n((const char *)job_id.b, sizeof job_id.b)) | 1;
    for (size_t i = 0; i < sizeof t.span_id; i++)
        t.span_id[i] = (uint8_t)(h >> (8 * i));
    t.is_sampled = trace_is_set(&t) && is_drawn(t.trace_id, sample);
    return t;
}
