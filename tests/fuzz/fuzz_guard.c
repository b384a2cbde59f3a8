/* SPDX-License-Identifier: Apache-2.0 */
/* USES: core_http_server */
/* fuzz_guard.c - the request guard and the URL decoder against arbitrary requests.
 *
 * Oracle: what the guard accepts has at most one Content-Length or Transfer-Encoding, a path whose every segment decodes without
 * slash, NUL or dot segment, and no control byte in any value. */
#include <stdint.h>
#include <strings.h>
#include "core/base/assert.h"
#include "core/http/guard.h"
#include "core/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str cut_line(struct str *rest)
{
    struct str line;
    if (!str_cut(*rest, '\n', &line, rest))
        *rest = STR_NULL;
    return line;
}

static void check_accepted(const struct http_guard_input *in, struct arena *a)
{
    int length = 0, te = 0;
    for (size_t i = 0; i < in->nheaders; i++) {
        struct str n = in->headers[i].name, v = in->headers[i].value;
        length += n.len == 14 && strncasecmp(n.ptr, "content-length", 14) == 0;
        te += n.len == 17 && strncasecmp(n.ptr, "transfer-encoding", 17) == 0;
        for (size_t k = 0; k < v.len; k++)
            ASSERT(((unsigned char)v.ptr[k] >= 0x20 || v.ptr[k] == '\t') && v.ptr[k] != 0x7f);
    }
    ASSERT(length + te <= 1);
    struct str path, query, segment, text;
    str_cut(in->uri, '?', &path, &query);
    while (url_path_next(&path, &segment)) {
        struct err e = { 0 };
        if (url_segment_decode(a, segment, &text, &e) == ERR_OK)
            ASSERT(text.len == 0 || (!memchr(text.ptr, '/', text.len) && !memchr(text.ptr, 0, text.len)));
        else
            ASSERT(strcmp(e.msg, "The text is not UTF-8") == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_header headers[GUARD_HEADERS_MAX + 10];
    struct str rest = { (const char *)data, size }, line = cut_line(&rest);
    struct http_guard_input in = { .headers = headers };
    str_cut(line, ' ', &in.method, &line);
    if (!str_cut(line, ' ', &in.uri, &in.version))
        in.version = STR("HTTP/1.1");
    while (rest.len > 0 && in.nheaders < sizeof headers / sizeof *headers) {
        struct http_header *h = &headers[in.nheaders++];
        if (!str_cut(cut_line(&rest), ':', &h->name, &h->value))
            h->value = str_n("", 0);
    }
    struct err e = { 0 };
    enum errc rc = http_guard_check(&in, &e);
    ASSERT(rc == ERR_OK || rc == ERR_MALFORMED || rc == ERR_HEADERS);
    if (rc == ERR_OK) {
        struct arena *a = arena_new(1 << 20);
        check_accepted(&in, a);
        arena_free(a);
    }
    return 0;
}
