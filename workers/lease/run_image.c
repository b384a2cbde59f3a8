/* SPDX-License-Identifier: Apache-2.0 */
/* run_image.c - the archive lies in a file without a name, gone when it is closed. */
#include "workers/lease/run_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/image/flat.h"
#include "workers/image/unpack.h"
#include "workers/lease/box.h"
#include "workers/lease/run_lines.h"

bool run_image_is(const struct lease_input *about)
{
    return str_eq_c(about->name, RUN_IMAGE_INPUT);
}

enum errc run_image_archive(struct child *c, size_t i, int root, int *ret, struct err *e)
{
    *ret = openat(root, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return *ret < 0 ? FAIL(e, IO, "there is no file for the image's archive") : child_open_input_to(c, i, *ret, e);
}

static enum errc find(const struct child *c, size_t *ret, struct err *e)
{
    for (size_t i = 0; i < lease_grant_files(&c->grant.lease); i++)
        if (run_image_is(&c->inputs[i].about)) {
            *ret = i;
            return ERR_OK;
        }
    return FAIL(e, UNPROCESSABLE, "the image is not among what the lease brought");
}

/* Of the memory that the program will have, while it has not begun. */
static uint64_t keep_most(const struct child *c)
{
    const int64_t free = c->grant.memory_bytes / 2 - c->grant.memory_bytes / 16;
    return (uint64_t)(c->grant.image_most < free ? c->grant.image_most : free);
}

static enum errc unpack_archive(struct child *c, size_t i, struct str digest, int root, int into, const struct oci_limits *most,
                                struct oci_image *ret, struct err *e)
{
    struct flat *f = ARENA_NEW(c->arena, struct flat);
    CLEANUP(fd_closep) int archive = -1, kept = c->grant.image_most ? memfd_create("image", MFD_CLOEXEC) : -1;
    flat_begin(f, kept, keep_most(c));
    TRY(run_image_archive(c, i, root, &archive, e));
    TRY(oci_unpack_keeping(archive, into, digest, most, kept >= 0 ? f : NULL, c->arena, ret, e));
    if (kept >= 0 && flat_end(f, ret))
        TRY(frame_send(FRAME_FD, FRAME_IMAGE, STR_NULL, STR(""), &kept, 1, true, e));
    return ERR_OK;
}

/* It was checked when it was unpacked first; its key came with this lease as for every image, and is not needed. */
static enum errc unpack_flat(struct child *c, size_t i, int into, const struct oci_limits *most, struct oci_image *ret,
                             struct err *e)
{
    TRY(flat_unpack(c->inputs[i].fd, into, most, c->arena, ret, e));
    secret_wipe(&c->inputs[i].key, sizeof c->inputs[i].key);
    fd_closep(&c->inputs[i].fd);
    return ERR_OK;
}

/* What the box puts something on is no link of the image's. */
static enum errc make_places(int root, struct err *e)
{
    struct unpack u = { .root = root };
    for (const struct box_place *p = box_places; p->path; p++)
        TRY(unpack_place(&u, p->path, p->is_folder, e));
    return ERR_OK;
}

enum errc run_image_open(struct child *c, const struct run_job *job, int root, const struct oci_limits *most,
    struct oci_image *ret,
                         struct err *e)
{
    struct run_environment env;
    size_t i;
    CLEANUP(fd_closep) int into = openat(root, BOX_IMAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret = (struct oci_image){ 0 };
    if (!run_environment(job->environment, &env) || env.is_named)
        return FAIL(e, INVALID, "the environment %.*s has another form", STR_ARG(job->environment));
    if (env.is_host)
        return ERR_OK;
    TRY(find(c, &i, e));
    TRY(c->grant.image_is_flat ? unpack_flat(c, i, into, most, ret, e)
                               : unpack_archive(c, i, env.digest, root, into, most, ret, e));
    TRY(make_places(into, e));
    run_note(c, "info: image %.*s: %llu layers, %llu files, %llu bytes%s", STR_ARG(ret->digest), (unsigned long long)ret->layers,
             (unsigned long long)ret->files, (unsigned long long)ret->bytes,
             c->grant.image_is_flat ? ", unpacked on this machine before" : "");
    if (ret->stripped || ret->left_out)
        run_note(c, "info: %llu files lost their setuid and setgid bits, %llu devices below /dev were left out",
                 (unsigned long long)ret->stripped, (unsigned long long)ret->left_out);
    return ERR_OK;
}
