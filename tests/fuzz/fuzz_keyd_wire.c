/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_keyd_wire.c - any bytes as a request to falaj-keyd, through the same function as its socket: the reply is always a frame.
 * The provider is the real soft store, made once in a folder that is removed again. */
/* USES: core_base core_crypto core_wire keys keyd_server */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/base/log.h"
#include "keys/keyd_wire.h"
#include "keys/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct keyd *start(void)
{
    char dir[] = "/tmp/falaj-fuzz-XXXXXX", path[64];
    struct keyd *k = NULL;
    if (secmem_init(1 << 20, false, NULL) != ERR_OK || !mkdtemp(dir))
        abort();
    log_setup("fuzz", LOG_ERROR, LOGFMT, STDERR_FILENO);
    snprintf(path, sizeof path, "%s/k", dir);
    const struct keyd_options o = { .socket_path = "-", .provider = &provider_softfile,
                                    .provider_config = { .zone = STR("ae-dxb-1"), .path = path, .is_init = true } };
    if (keyd_new(&o, &k, NULL) != ERR_OK)
        abort();
    unlink(path);
    rmdir(dir);
    return k;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct keyd *k;
    struct buf reply = BUF(KEYD_REPLY_MAX);
    struct wire_in in;
    uint8_t kind = 0;
    if (!k)
        k = start();
    keyd_answer(k, data, size, &reply);
    if (reply.len < KEYD_HEAD || !wire_open(&in, reply.ptr + 4, reply.len - 4, &kind) || kind > KEYD_REFUSED)
        abort();
    buf_release(&reply);
    return 0;
}
