/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - API tokens. Digits are drawn by rejection, so all 62 are equally likely: 30 of them are 178.6 bits. */
#include "core/crypto/token.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"

enum { SECRET_DIGITS = 30, CRC_DIGITS = 6, REJECT_FROM = 248 };      /* 248 = 4 x 62 */

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static bool is_digit62(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_kind(struct str kind)
{
    if (kind.len == 0 || kind.len > TOKEN_KIND_MAX)
        return false;
    for (size_t i = 0; i < kind.len; i++) {
        char c = kind.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
            return false;
    }
    return true;
}

static void crc_text(struct str s, char out[CRC_DIGITS])
{
    uint32_t crc = crc32_of(s.ptr, s.len);
    for (int i = CRC_DIGITS - 1; i >= 0; i--, crc /= 62)
        out[i] = digits[crc % 62];
}

static enum errc draw(char *out, size_t n, struct err *e)
{
    uint8_t raw[64];
    size_t have = 0;
    while (have < n) {
        TRY(rand_key(raw, sizeof raw, e));
        for (size_t i = 0; i < sizeof raw && have < n; i++)
            if (raw[i] < REJECT_FROM)
                out[have++] = digits[raw[i] % 62];
    }
    secret_wipe(raw, sizeof raw);
    return ERR_OK;
}

enum errc token_make(const char *kind, char ret[TOKEN_TEXT], struct err *e)
{
    struct str k = str_c(kind);
    if (!is_kind(k))
        return FAIL(e, INVALID, "a kind of token is 1 to %d of a-z and 0-9", TOKEN_KIND_MAX);
    memcpy(ret, "flj_", 4);
    memcpy(ret + 4, k.ptr, k.len);
    size_t n = 4 + k.len;
    ret[n++] = '_';
    TRY(draw(ret + n, SECRET_DIGITS, e));
    n += SECRET_DIGITS;
    ret[n] = '_';
    crc_text(str_n(ret, n), ret + n + 1);
    ret[n + 1 + CRC_DIGITS] = '\0';
    return ERR_OK;
}

bool token_check(struct str token, struct str *ret_kind)
{
    enum { TAIL = 1 + SECRET_DIGITS + 1 + CRC_DIGITS };
    char crc[CRC_DIGITS];
    if (token.len < 4 + 1 + TAIL || token.len >= TOKEN_TEXT || memcmp(token.ptr, "flj_", 4) != 0)
        return false;
    struct str kind = str_n(token.ptr + 4, token.len - 4 - TAIL);
    const char *tail = token.ptr + 4 + kind.len;
    if (!is_kind(kind) || tail[0] != '_' || tail[1 + SECRET_DIGITS] != '_')
        return false;
    for (size_t i = 1; i <= SECRET_DIGITS; i++)
        if (!is_digit62(tail[i]))
            return false;
    crc_text(str_n(token.ptr, token.len - 1 - CRC_DIGITS), crc);
    if (!mem_eq_ct(crc, tail + 2 + SECRET_DIGITS, CRC_DIGITS))
        return false;
    if (ret_kind)
        *ret_kind = kind;
    return true;
}

void token_hash(struct str token, uint8_t ret[32])
{
    sha256(token.ptr, token.len, ret);
}
