/* SPDX-License-Identifier: Apache-2.0 */
/* run_output.c - places for what a child makes: one model at its end, or artifacts one after the other, each sent when it is
 * whole. */
#include "workers/lease/executor_int.h"

#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/deliver.h"
#include "workers/lease/work_type.h"

enum errc run_give_place(struct run *r, struct str name, enum lease_output_kind kind, int fd, struct err *e)
{
    const struct executor_io *io = r->env->io;
    struct output_place p = { 0 };
    for (int n = 0;; n++) {
        enum errc rc = io ? io->output(io->ctx, r->arena, r->g, name, kind, &p, e)
                          : client_output(r->client, r->arena, r->env->node.node_id, r->g, name, kind, &p, e);
        if (rc == ERR_OK)
            break;
        if (!run_try_again(r, rc, n))
            return rc;
    }
    struct frame_output out = { r->g->tenant_id, p.object_id, p.dek_id, (uint32_t)p.version, p.key };
    r->object_id = p.object_id;
    r->part_bytes_max = p.part_bytes_max;
    r->has_output = kind == LO_MODEL;
    enum errc rc = frame_send(r->socket, FRAME_OUTPUT, STR_NULL, str_n((const char *)&out, sizeof out), fd < 0 ? NULL : &fd,
        fd >= 0, true, e);
    secret_wipe(&out, sizeof out);
    secret_wipe(&p, sizeof p);
    return rc;
}

enum errc run_on_place(struct run *r, struct str name, struct err *e)
{
    const char *why;
    if (r->has_place || r->has_output || r->has_result || r->n_artifacts == LEASE_OUTPUTS_MAX || !check_slug(name, &why))
        return FAIL(e, DAMAGED, "the child wants a place where none is expected");
    fd_closep(&r->artifact);
    TRY(run_file(r, &r->artifact, e));
    r->artifacts[r->n_artifacts].name = str_dup(r->arena, name);
    TRY(run_give_place(r, r->artifacts[r->n_artifacts].name,
                       work_type_of(r->g->kind)->gives_datasets ? LO_DATASET : LO_ARTIFACT, r->artifact, e));
    r->has_place = true;
    return ERR_OK;
}

enum errc run_on_given(struct run *r, struct str body, struct err *e)
{
    struct frame_result about;
    if (!r->has_place || body.len != sizeof about)
        return FAIL(e, DAMAGED, "the child gave an artifact that it has no place for");
    memcpy(&about, body.ptr, sizeof about);
    const struct delivery d = { r->client, r->arena, r->artifact, r->object_id, r->part_bytes_max, about };
    TRY(run_deliver(r, &d, e));
    r->has_place = false;
    r->artifacts[r->n_artifacts++].object_id = r->object_id;
    return ERR_OK;
}
