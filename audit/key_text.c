/* SPDX-License-Identifier: Apache-2.0 */
/* key_text.c - PEM, base64 and hex to keys. */
#include "audit/key_text.h"
#include "core/crypto/sign.h"

enum errc key_text_parse(struct str text, uint8_t (*key)[AUDIT_PUB], size_t max, size_t *ret_n, struct err *e)
{
    struct str rest = text, line;
    size_t n = 0, got = 0;
    if (str_starts(str_trim(text), "-----BEGIN")) {
        TRY(ed25519_public_of_pem(str_trim(text), key[0], e));
        *ret_n = 1;
        return ERR_OK;
    }
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        line = str_trim(line);
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (!line.len || line.ptr[0] == '#')
            continue;
        if (n == max)
            return FAIL(e, INVALID, "a key file holds at most %zu keys", max);
        bool is_hex = line.len == 2 * AUDIT_PUB && hex_decode(line, key[n], AUDIT_PUB);
        if (!is_hex && !(base64_decode(line, key[n], AUDIT_PUB, &got, false) && got == AUDIT_PUB))
            return FAIL(e, INVALID, "a key is a PEM public key, or 32 bytes as base64 or hex");
        n++;
    }
    if (n == 0)
        return FAIL(e, INVALID, "there is no key in the key file");
    *ret_n = n;
    return ERR_OK;
}
