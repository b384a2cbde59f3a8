/* SPDX-License-Identifier: Apache-2.0 */
/* totp.c - RFC 4226 section 5.3 (dynamic truncation) over OpenSSL's HMAC. */
#include "core/crypto/totp.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { SHA1_BYTES = 20 };

uint32_t hotp_code(const uint8_t *secret, size_t secret_len, uint64_t counter, int digits)
{
    uint8_t text[8], mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    for (int i = 7; i >= 0; i--, counter >>= 8)
        text[i] = (uint8_t)counter;
    ASSERT(HMAC(EVP_sha1(), secret, (int)secret_len, text, sizeof text, mac, &len) && len == SHA1_BYTES);
    unsigned at = mac[SHA1_BYTES - 1] & 15;
    uint32_t v = (uint32_t)(mac[at] & 127) << 24 | (uint32_t)mac[at + 1] << 16 | (uint32_t)mac[at + 2] << 8 | mac[at + 3], mod = 1;
    for (int i = 0; i < digits; i++)
        mod *= 10;
    return v % mod;
}

static bool code_of(struct str digits, char ret[TOTP_DIGITS])
{
    size_t n = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] == ' ')
            continue;
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || n == TOTP_DIGITS)
            return false;
        ret[n++] = digits.ptr[i];
    }
    return n == TOTP_DIGITS;
}

int64_t totp_step_of(const uint8_t secret[TOTP_SECRET], struct str digits, int64_t unix_s)
{
    char given[TOTP_DIGITS], expect[TOTP_DIGITS];
    int64_t now = unix_s / TOTP_PERIOD_S, found = -1;
    if (!code_of(digits, given) || now < 1)
        return -1;
    for (int64_t step = now + 1; step >= now - 1; step--) {
        uint32_t v = hotp_code(secret, TOTP_SECRET, (uint64_t)step, TOTP_DIGITS);
        for (int i = TOTP_DIGITS - 1; i >= 0; i--, v /= 10)
            expect[i] = (char)('0' + v % 10);
        if (mem_eq_ct(given, expect, TOTP_DIGITS))
            found = step;
    }
    return found;
}

void base32_secret(const uint8_t secret[TOTP_SECRET], char out[BASE32_SECRET])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    size_t n = 0;
    for (size_t i = 0; i < TOTP_SECRET; i += 5) {
        uint64_t v = 0;
        for (int k = 0; k < 5; k++)
            v = v << 8 | secret[i + (size_t)k];
        for (int shift = 35; shift >= 0; shift -= 5)
            out[n++] = digits[v >> shift & 31];
    }
    out[n] = '\0';
}
