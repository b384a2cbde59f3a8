/* SPDX-License-Identifier: Apache-2.0 */
/* argon.c - libargon2's own reader of PHC strings checks nothing against memory limits, so the costs are read here first and the tag is
 * computed and compared here. */
#include "core/crypto/argon.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

#include <argon2.h>
#include <stdio.h>

enum { SALT = 16, TAG = 32, PASSES_MAX = 64, LANES_MAX = 16 };

struct phc {
    struct argon_cost cost;
    uint8_t salt[SALT], tag[TAG];
};

static bool cost_is_good(const struct argon_cost *c)
{
    return c->passes >= 1 && c->passes <= PASSES_MAX && c->lanes >= 1 && c->lanes <= LANES_MAX && c->memory_kib >= 8 * c->lanes &&
           c->memory_kib <= ARGON_MEMORY_MAX_KIB;
}

/* PHC strings use base64 without padding; ours ends at exactly 16 and 32 bytes. */
static bool unpadded(struct str s, uint8_t *out, size_t n)
{
    char text[64];
    size_t got, pad = (4 - s.len % 4) % 4;
    if (s.len + pad >= sizeof text)
        return false;
    memcpy(text, s.ptr, s.len);
    memset(text + s.len, '=', pad);
    return base64_decode(str_n(text, s.len + pad), out, n, &got, false) && got == n;
}

static size_t unpadded_text(const uint8_t *p, size_t n, char *out)
{
    size_t len = base64_encode(p, n, out, false);
    while (len && out[len - 1] == '=')
        out[--len] = '\0';
    return len;
}

static bool number(struct str *rest, const char *name, char end, int64_t max, uint32_t *ret)
{
    struct str head;
    int64_t v;
    if (!str_starts(*rest, name) || !str_cut(str_n(rest->ptr + strlen(name), rest->len - strlen(name)), end, &head, rest) ||
        !str_to_i64(head, 1, max, &v))
        return false;
    *ret = (uint32_t)v;
    return true;
}

static bool phc_read(struct str s, struct phc *ret)
{
    static const char opening[] = "$argon2id$v=19$";
    struct str salt;
    if (!str_starts(s, opening))
        return false;
    struct str rest = str_n(s.ptr + sizeof opening - 1, s.len - (sizeof opening - 1));
    return number(&rest, "m=", ',', ARGON_MEMORY_MAX_KIB, &ret->cost.memory_kib) && number(&rest, "t=", ',', PASSES_MAX, &ret->cost.passes) &&
           number(&rest, "p=", '$', LANES_MAX, &ret->cost.lanes) && str_cut(rest, '$', &salt, &rest) && cost_is_good(&ret->cost) &&
           unpadded(salt, ret->salt, SALT) && unpadded(rest, ret->tag, TAG);
}

static int tag_of(const struct argon_cost *c, const struct secret32 *pepper, struct str password, const uint8_t salt[SALT], uint8_t out[TAG])
{
    uint8_t peppered[SHA256_BYTES];
    hmac_sha256(pepper->b, sizeof pepper->b, password.ptr, password.len, peppered);
    int rc = argon2id_hash_raw(c->passes, c->memory_kib, c->lanes, peppered, sizeof peppered, salt, SALT, out, TAG);
    secret_wipe(peppered, sizeof peppered);
    return rc;
}

enum errc argon_hash(const struct argon_cost *cost, const struct secret32 *pepper, struct str password, char ret[ARGON_PHC], struct err *e)
{
    uint8_t salt[SALT], tag[TAG];
    char salt_text[BASE64_MAX(SALT)], tag_text[BASE64_MAX(TAG)];
    if (!cost_is_good(cost))
        return FAIL(e, INVALID, "The costs of password hashing are out of range");
    TRY(rand_bytes(salt, sizeof salt, e));
    int rc = tag_of(cost, pepper, password, salt, tag);
    if (rc != ARGON2_OK)
        return FAIL(e, UNAVAILABLE, "A password cannot be hashed now: %s", argon2_error_message(rc));
    unpadded_text(salt, sizeof salt, salt_text);
    unpadded_text(tag, sizeof tag, tag_text);
    snprintf(ret, ARGON_PHC, "$argon2id$v=19$m=%u,t=%u,p=%u$%s$%s", cost->memory_kib, cost->passes, cost->lanes, salt_text, tag_text);
    return ERR_OK;
}

bool argon_check(struct str phc, const struct secret32 *pepper, struct str password)
{
    struct phc p;
    uint8_t tag[TAG];
    return phc_read(phc, &p) && tag_of(&p.cost, pepper, password, p.salt, tag) == ARGON2_OK && mem_eq_ct(tag, p.tag, TAG);
}

bool argon_is_other_cost(struct str phc, const struct argon_cost *cost)
{
    struct phc p;
    return !phc_read(phc, &p) || p.cost.memory_kib != cost->memory_kib || p.cost.passes != cost->passes || p.cost.lanes != cost->lanes;
}
