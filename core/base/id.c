/* SPDX-License-Identifier: Apache-2.0 */
/* id.c - UUIDv7. One getrandom per 32 ids and thread: the call costs more than everything else here. */
#include "core/base/id.h"
#include "core/base/assert.h"

#include <sys/random.h>

void id_random(uint8_t *out, size_t n)
{
    static _Thread_local uint8_t pool[320];
    static _Thread_local size_t left;
    ASSERT(n <= sizeof pool);
    if (left < n) {
        ASSERT(getrandom(pool, sizeof pool, 0) == sizeof pool);
        left = sizeof pool;
    }
    memcpy(out, pool + (left -= n), n);
}

struct uuid uuid_v7(int64_t now_us)
{
    struct uuid u;
    uint64_t ms = (uint64_t)(now_us / 1000);
    for (int i = 0; i < 6; i++)
        u.b[i] = (uint8_t)(ms >> (8 * (5 - i)));
    id_random(u.b + 6, 10);
    /* rand_a carries the microseconds within the millisecond, so that ids of one process sort by time. */
    unsigned us = (unsigned)(now_us % 1000) * 4;
    u.b[6] = (uint8_t)(0x70 | us >> 8);
    u.b[7] = (uint8_t)us;
    u.b[8] = (uint8_t)(0x80 | (u.b[8] & 0x3F));
    return u;
}

int64_t uuid_time_us(struct uuid v7)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | v7.b[i];
    return ms * 1000;
}

bool uuid_is_nil(struct uuid u)
{
    return uuid_eq(u, UUID_NIL);
}

bool uuid_eq(struct uuid a, struct uuid b)
{
    return !memcmp(a.b, b.b, 16);
}

int uuid_cmp(struct uuid a, struct uuid b)
{
    return memcmp(a.b, b.b, 16);
}

bool uuid_parse(struct str s, struct uuid *ret)
{
    struct uuid u;
    if (s.len == 36) {
        char hex[32];
        size_t n = 0;
        for (size_t i = 0; i < 36; i++) {
            bool dash = i == 8 || i == 13 || i == 18 || i == 23;
            if (dash != (s.ptr[i] == '-'))
                return false;
            if (!dash)
                hex[n++] = s.ptr[i];
        }
        if (!hex_decode(str_n(hex, 32), u.b, 16))
            return false;
    } else if (!hex_decode(s, u.b, 16)) {
        return false;
    }
    *ret = u;
    return true;
}

void uuid_text(struct uuid u, char out[UUID_TEXT])
{
    char hex[UUID_HEX];
    hex_encode(u.b, 16, hex);
    static const int cut[] = { 0, 8, 12, 16, 20, 32 };
    char *o = out;
    for (int g = 0; g < 5; g++) {
        size_t n = (size_t)(cut[g + 1] - cut[g]);
        memcpy(o, hex + cut[g], n);
        o += n;
        *o++ = g < 4 ? '-' : '\0';
    }
}

bool id_parse(const char *prefix, struct str s, struct uuid *ret)
{
    if (!prefix || !*prefix)
        return uuid_parse(s, ret);
    size_t n = strlen(prefix);
    if (s.len != n + 33 || memcmp(s.ptr, prefix, n) || s.ptr[n] != '_')
        return false;
    return hex_decode(str_n(s.ptr + n + 1, 32), ret->b, 16);
}

struct str id_text(struct arena *a, const char *prefix, struct uuid u)
{
    char hex[UUID_HEX];
    if (!prefix || !*prefix) {
        char text[UUID_TEXT];
        uuid_text(u, text);
        return str_fmt(a, "%s", text);
    }
    hex_encode(u.b, 16, hex);
    return str_fmt(a, "%s_%s", prefix, hex);
}

bool buf_add_id(struct buf *b, const char *prefix, struct uuid u)
{
    if (prefix && *prefix) {
        buf_add_c(b, prefix);
        buf_add_char(b, '_');
        return buf_add_hex(b, u.b, 16);
    }
    char text[UUID_TEXT];
    uuid_text(u, text);
    return buf_add_c(b, text);
}
