/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_guard.c - the request guard and the URL decoder against arbitrary requests.
 *
 * Oracle: what the guard accepts has at most one Content-Length or Transfer-Encoding, a path whose every segment decodes without
 * slash, NUL or dot segment, and no control byte in any value. Built with clang -fsanitize=fuzzer -DFUZZ_LIBFUZZER the entry is
 * LLVMFuzzerTestOneInput; else main replays the files named, or mutates the seeds FUZZ_RUNS times (environment; 200000). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

#ifndef FUZZ_LIBFUZZER
static const char *const SEEDS[] = {
    "GET / HTTP/1.1\nHost: a\n",
    "POST /v1/jobs?a=b&c=%20 HTTP/1.1\nHost: a:1\nContent-Length: 5\nContent-Type: application/json\nAuthorization: Bearer x\n",
    "PUT /v1/a%20b/%2e%2e/c/../d HTTP/1.0\nHost: [::1]\nTransfer-Encoding: chunked\nIdempotency-Key: k\nX-Request-Id: r\n",
    "OPTIONS * HTTP/1.1\nhost: b\n",
};
static const char BITS[] = "%2f%5c%00%2E./\\?#:*\r\t\x7f \x80;@0Aa";

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static int replay(const char *path)
{
    static uint8_t bytes[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f)
        return 1;
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return LLVMFuzzerTestOneInput(bytes, n);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != 0)
            return 1;
    const char *asked = getenv("FUZZ_RUNS");
    long runs = argc > 1 ? 0 : asked ? strtol(asked, NULL, 10) : 200000;
    uint64_t s = 88172645463325252u;
    for (long r = 0; r < runs; r++) {
        const char *seed = SEEDS[next(&s) % 4];
        size_t n = strlen(seed);
        uint8_t *bytes = malloc(n + 16);    /* exact size: an overread is seen */
        ASSERT(bytes);
        memcpy(bytes, seed, n);
        for (uint64_t m = next(&s) % 6; m > 0 && n > 0; m--) {
            size_t at = next(&s) % n, len = 1 + next(&s) % 6, from = next(&s) % (sizeof BITS - 7);
            if (next(&s) % 3 == 0)
                n = at;
            else
                for (size_t k = 0; k < len && at + k < n; k++)
                    bytes[at + k] = (uint8_t)BITS[from + k];
        }
        uint8_t *exact = malloc(n ? n : 1);
        ASSERT(exact);
        memcpy(exact, bytes, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
        free(bytes);
    }
    return 0;
}
#endif
