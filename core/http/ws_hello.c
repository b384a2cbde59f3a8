/* SPDX-License-Identifier: Apache-2.0 */
/* ws_hello.c - a few headers and one SHA-1, which here proves nothing but that both ends speak the same protocol. */
#include "core/http/ws_hello.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <strings.h>
#include "core/base/assert.h"

enum { SHA1_BYTES = 20 };
static const char GUID[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

bool ws_hello_has(struct str header, struct str word)
{
    while (header.len) {
        struct str one, rest;
        if (!str_cut(header, ',', &one, &rest)) {
            one = header;
            rest = STR_NULL;
        }
        one = str_trim(one);
        if (one.len == word.len && strncasecmp(one.ptr, word.ptr, word.len) == 0)
            return true;
        header = rest;
    }
    return false;
}

static struct str header_of(const struct http_request *r, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < r->nheaders; i++)
        if (r->headers[i].name.len == n && strncasecmp(r->headers[i].name.ptr, name, n) == 0)
            return r->headers[i].value;
    return STR_NULL;
}

struct str ws_hello_protocol(const struct http_request *r, const char *prefix)
{
    struct str rest = header_of(r, "Sec-WebSocket-Protocol"), one;
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        if (str_starts(one, prefix))
            return str_n(one.ptr + strlen(prefix), one.len - strlen(prefix));
    }
    return STR("");
}

enum errc ws_hello_key(const struct http_request *r, struct str *ret_key, struct err *e)
{
    uint8_t random[16];
    size_t n = 0;
    const struct str key = str_trim(header_of(r, "Sec-WebSocket-Key"));
    if (r->method != HTTP_GET || !ws_hello_has(header_of(r, "Upgrade"), STR("websocket"))
        || !ws_hello_has(header_of(r, "Connection"), STR("Upgrade")))
        return FAIL(e, INVALID, "This address is a WebSocket: ask for it by GET with Connection: Upgrade and Upgrade: websocket");
    if (!str_eq(str_trim(header_of(r, "Sec-WebSocket-Version")), STR("13")))
        return FAIL(e, INVALID, "Sec-WebSocket-Version must be 13");
    if (key.len != WS_KEY_BYTES || !base64_decode(key, random, sizeof random, &n, false) || n != sizeof random)
        return FAIL(e, INVALID, "Sec-WebSocket-Key must be 16 bytes in base64");
    *ret_key = key;
    return ERR_OK;
}

void ws_hello_accept(struct str key, char out[WS_ACCEPT_BYTES + 1])
{
    char text[WS_KEY_BYTES + sizeof GUID];
    uint8_t digest[SHA1_BYTES];
    ASSERT(key.len == WS_KEY_BYTES);
    memcpy(text, key.ptr, key.len);
    memcpy(text + key.len, GUID, sizeof GUID - 1);
    ASSERT(gnutls_hash_fast(GNUTLS_DIG_SHA1, text, key.len + sizeof GUID - 1, digest) == 0);
    ASSERT(base64_encode(digest, sizeof digest, out, false) == WS_ACCEPT_BYTES);
}
