/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - a single operation on tensors of host memory: called as it is, or through memory of the backend and back. */
#include "workers/compute/kernels/call.h"

static size_t bytes_of(const struct tensor *t)
{
    size_t last = 0;
    for (unsigned i = 0; i < t->rank; i++)
        last += t->dim[i] ? (t->dim[i] - 1) * t->stride[i] : 0;
    return (last + 1) * elem_bytes(t->type);
}

static const struct tensor **operand(struct op_call *o, int i)
{
    return i < OP_INPUTS_MAX ? &o->in[i] : &o->out[i - OP_INPUTS_MAX];
}

/* There and back with strides and all that lies between the rows. After a failure the results keep what they held. */
static void call_over(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call)
{
    enum { OPERANDS = OP_INPUTS_MAX + OP_OUTPUTS_MAX };
    struct op_call o = *call;
    struct tensor t[OPERANDS];
    struct buffer *room[OPERANDS] = { 0 };
    void *host[OPERANDS];
    struct err e;
    bool ok = true;
    for (int i = 0; i < OPERANDS; i++) {
        const struct tensor **at = operand(&o, i);
        if (!*at || (*at)->buf)
            continue;
        t[i] = **at;
        host[i] = t[i].ptr;
        room[i] = t[i].buf = be->alloc(c, bytes_of(&t[i]));
        ok = ok && room[i];
        if (room[i])
            be->put(c, QUEUE_COMPUTE, room[i], 0, host[i], bytes_of(&t[i]));
        t[i].ptr = room[i] ? room[i]->ptr : NULL;
        t[i].offset_bytes = 0;
        *at = &t[i];
    }
    if (ok)
        (*be->kernels)[op][o.in[op_row(op)->key]->type](c, &o);
    ok = be->sync(c, &e) == ERR_OK && ok;
    for (int i = 0; i < OPERANDS && ok; i++)
        if (room[i] && (i >= OP_INPUTS_MAX || op_row(op)->writes >> i & 1))
            be->get(c, QUEUE_COMPUTE, room[i], 0, host[i], bytes_of(&t[i]));
    (void)be->sync(c, &e);              /* what is wrong now shows as a result that is not there */
    for (int i = 0; i < OPERANDS; i++)
        be->free(c, room[i]);
}

void call_kernel(const struct backend *be, struct backend_ctx *c, enum op op, const struct op_call *call)
{
    const struct tensor *key = call->in[op_row(op)->key];
    ASSERT(backend_can(be, op, key->type));
    if (be->properties & BE_HOST_MEMORY)
        (*be->kernels)[op][key->type](c, call);
    else
        call_over(be, c, op, call);
}
