/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_cards.c - the cards of this process by the driver, and their links by NCCL, which is opened when it is first asked for. */
#include "workers/compute/kernels/cuda/nccl.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nccl library;
static struct err missing;              /* code ERR_OK: it is there */

static void open_library(void)
{
    if (nccl_open("libnccl.so.2", &library, &missing) == ERR_OK)
        missing.code = ERR_OK;
}

static enum errc need(struct err *e)
{
    pthread_once(&once, open_library);
    if (missing.code == ERR_OK)
        return ERR_OK;
    *e = missing;
    return e->code;
}

static int count(void)
{
    struct gpu_driver d;
    struct err e;
    int n = 0;
    if (gpu_driver_open("libcuda.so.1", &d, &e) != ERR_OK || d.init(0) || d.device_count(&n))
        return 0;
    return n;
}

static enum errc link_id(unsigned char ret[CARD_LINK_ID], struct err *e)
{
    TRY(need(e));
    return nccl_link_id(&library, ret, e);
}

static enum errc link_new(struct backend_ctx *c, const struct card_link_spec *s, struct card_link **ret, struct err *e)
{
    TRY(need(e));
    return nccl_link_new(&library, c, s, ret, e);
}

static int link_version(void)
{
    struct err e;
    int version = 0;
    return need(&e) == ERR_OK && !library.version(&version) ? version : 0;
}

const struct card_ops cuda_cards = { count, cuda_card_use, link_id, link_new, nccl_exchange, nccl_link_free, link_version,
                                     cuda_host_alloc, cuda_host_free, cuda_memory };
