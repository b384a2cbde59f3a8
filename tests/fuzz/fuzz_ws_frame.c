/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ws_frame.c - any bytes as one direction of a WebSocket, whole and cut: the same messages come out, none is longer than the
 * limit, and nothing is read past its end. The first byte says whose direction it is and where the cuts are. */
/* USES: core_base core_http_ws */
#include <stdlib.h>
#include <string.h>
#include "core/http/ws_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sight { size_t messages, bytes; uint32_t sum; enum errc end; };

static struct sight read_all(const uint8_t *data, size_t size, bool from_client, size_t step)
{
    struct ws_reader *r = calloc(1, sizeof *r);
    struct sight s = { 0 };
    if (!r)
        abort();
    r->from_client = from_client;
    for (size_t at = 0; at < size && s.end == ERR_OK; at += step) {
        const size_t n = size - at < step ? size - at : step;
        char *copy = malloc(n);
        memcpy(copy, data + at, n);
        struct str in = str_n(copy, n);
        for (enum ws_step got = WS_GOT; got == WS_GOT && s.end == ERR_OK;) {
            struct ws_message m;
            s.end = ws_reader_take(r, &in, &got, &m, NULL);
            if (s.end != ERR_OK || got != WS_GOT)
                continue;
            if (m.op == WS_CONTINUATION || m.body.len > (m.op >= WS_CLOSE ? WS_CONTROL_MAX : WS_MESSAGE_MAX))
                abort();
            s.messages++;
            s.bytes += m.body.len;
            for (size_t i = 0; i < m.body.len; i++)
                s.sum = s.sum * 31 + (uint8_t)m.body.ptr[i];
        }
        free(copy);
    }
    free(r);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const bool from_client = data[0] & 1;
    const size_t step = (size_t)(data[0] >> 1) + 1;
    const struct sight whole = read_all(data + 1, size - 1, from_client, size);
    const struct sight cut = read_all(data + 1, size - 1, from_client, step);
    if (whole.end != cut.end || whole.messages != cut.messages || whole.bytes != cut.bytes || whole.sum != cut.sum)
        abort();
    return 0;
}
