/* SPDX-License-Identifier: Apache-2.0 */
/* type_inspect.c - an image as an environment: unpacked as a program's lease would do it, in the same box and by the same code,
 * so that what is taken here is taken there; then its packages are read, and all of it is thrown away. Nothing of it runs. */
#include "workers/lease/type_inspect.h"

#include <fcntl.h>
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/type_inspect.h"
#include "workers/image/oci.h"
#include "workers/image/packages.h"
#include "workers/lease/box.h"
#include "workers/lease/run_image.h"
#include "workers/lease/run_lines.h"
#include "workers/lease/work_type.h"

enum { RESULT_MAX = 150 << 10 };

static void figures_of(struct arena *a, const struct oci_image *image, const struct packages *p, struct inspect_figures *ret)
{
    struct inspect_layer *layers = ARENA_ARRAY(a, struct inspect_layer, image->layers + 1);
    for (uint64_t i = 0; i < image->layers; i++)
        layers[i] = (struct inspect_layer){ image->layer[i].digest, (int64_t)image->layer[i].size,
                                            (int64_t)image->layer[i].bytes, (int64_t)image->layer[i].files };
    *ret = (struct inspect_figures){ .digest = image->digest, .package_source = str_c(p->source),
        .unpacked_bytes = (int64_t)image->bytes, .files = (int64_t)image->files, .stripped = (int64_t)image->stripped,
        .left_out = (int64_t)image->left_out, .package_count = p->count, .layers = { layers, image->layers },
        .packages = p->all };
}

enum errc inspect_archive(struct child *c, int root, int archive, struct str digest, bool allow_setuid,
                          struct inspect_figures *ret, struct err *e)
{
    const struct oci_limits most = { (uint64_t)c->grant.memory_bytes / 2, INSPECT_IMAGE_FILES, !allow_setuid };
    struct oci_image image;
    struct packages p;
    CLEANUP(fd_closep) int into = openat(root, BOX_IMAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    TRY(oci_unpack(archive, into, digest.len ? digest : STR_NULL, &most, c->arena, &image, e));
    TRY(packages_read(into, c->arena, &p, e));
    figures_of(c->arena, &image, &p, ret);
    run_note(c, "info: image %.*s: %ld layers, %ld files, %ld bytes, %ld packages", STR_ARG(ret->digest), (long)ret->layers.n,
             (long)ret->files, (long)ret->unpacked_bytes, (long)ret->package_count);
    return ERR_OK;
}

enum errc inspect_tell(struct inspect_figures *figures, int64_t began_us, struct err *e)
{
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    figures->seconds = (double)(clock_mono_us(&clock_system) - began_us) / 1e6;
    json_encode(&inspect_figures_schema, figures, &json);
    if (json.overflow)
        return FAIL(e, LIMIT, "what is to be said of the image has more than %d bytes", RESULT_MAX);
    return frame_send(FRAME_FD, FRAME_ENDED, STR_NULL, buf_str(&json), NULL, 0, true, e);
}

static enum errc inspect(struct child *c, const struct inspect_job *job, int root, struct inspect_figures *ret, struct err *e)
{
    CLEANUP(fd_closep) int archive = -1;
    TRY(run_image_archive(c, 0, root, &archive, e));
    return inspect_archive(c, root, archive, job->digest, job->allow_setuid, ret, e);
}

static enum errc run(struct child *c, struct err *e)
{
    const struct child_grant *g = &c->grant;
    const struct sandbox s = { .memory_bytes = g->data_limit, .files = INSPECT_FILES, .uid = g->uid, .gid = g->gid,
        .parent = (int)g->parent };
    const int64_t began = clock_mono_us(&clock_system);
    struct inspect_job job = { 0 };
    struct inspect_figures figures;
    struct box box;
    if (c->n_inputs < 1)
        return FAIL(e, INVALID, "an import needs its archive as input");
    TRY(json_decode(&inspect_job_schema, g->lease.spec.text, c->arena, &job, e));
    TRY(box_open(&s, g->memory_bytes / 2, INSPECT_IMAGE_FILES + INSPECT_EXTRA_FILES, NULL, &box, e));
    enum errc rc = inspect(c, &job, box.root, &figures, e);
    box_close(&box);
    TRY(rc);
    return inspect_tell(&figures, began, e);
}

const struct work_type work_type_inspect = { .run = run, .starts_programs = true };
