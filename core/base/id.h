/* SPDX-License-Identifier: Apache-2.0 */
/* id.h - identifiers: 128-bit UUIDv7 (RFC 9562), sortable by time, printed with the prefix of their kind ("job_" + 32 hex digits).
 *
 * uuid_v7 takes milliseconds from the clock it is given and randomness from getrandom(2). The nil uuid means "none".
 * The platform itself (no tenant) has the nil uuid as tenant id. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/base/str.h"

struct uuid {
    uint8_t b[16];
};

#define UUID_NIL ((struct uuid){ { 0 } })
#define UUID_LEAST ((struct uuid){ { [15] = 1 } })      /* before all that are made */
enum { UUID_TEXT = 37, UUID_HEX = 33 };

struct uuid uuid_v7(int64_t now_us);
int64_t uuid_time_us(struct uuid v7);           /* when it was made, to the millisecond */
/* At most 320 bytes, for names and not for keys: a process keeps the next ones in memory. */
void id_random(uint8_t *out, size_t n);
bool uuid_is_nil(struct uuid u);
bool uuid_eq(struct uuid a, struct uuid b);
int uuid_cmp(struct uuid a, struct uuid b);
bool uuid_parse(struct str s, struct uuid *ret);                 /* 8-4-4-4-12 or 32 hex digits */
void uuid_text(struct uuid u, char out[UUID_TEXT]);              /* 8-4-4-4-12 */
/* Prefixed form: id_parse("job", "job_0192…", &u). prefix NULL or "": accepts what uuid_parse does. */
bool id_parse(const char *prefix, struct str s, struct uuid *ret);
struct str id_text(struct arena *a, const char *prefix, struct uuid u);
bool buf_add_id(struct buf *b, const char *prefix, struct uuid u);
