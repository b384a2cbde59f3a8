/* SPDX-License-Identifier: Apache-2.0 */
/* run_secrets.c - a secret's sealed content is noise and then the value (registry/catalog/secret.h). */
#include "workers/lease/run_secrets.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/box.h"
#include "workers/lease/run_lines.h"

enum { SALT_BYTES = 32 };

bool run_secret_is(const struct lease_input *about)
{
    return str_starts(about->name, RUN_SECRET_INPUT);
}

/* The one that the lease brought for this place. */
static bool input_of(const struct child *c, struct str place, size_t *ret)
{
    const size_t prefix = sizeof RUN_SECRET_INPUT - 1;
    for (size_t i = 0; i < lease_grant_files(&c->grant.lease); i++) {
        const struct str name = c->inputs[i].about.name;
        if (run_secret_is(&c->inputs[i].about) && str_eq(str_n(name.ptr + prefix, name.len - prefix), place)) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static enum errc open_value(struct child *c, size_t input, struct str *ret, struct err *e)
{
    struct buf plain = BUF(0);
    enum errc rc = child_open_input(c, input, &plain, e);
    if (rc == ERR_OK && plain.len < SALT_BYTES)
        rc = FAIL(e, DAMAGED, "a secret is too short");
    if (rc == ERR_OK)
        *ret = str_dup(c->arena, str_n(plain.ptr + SALT_BYTES, plain.len - SALT_BYTES));
    if (plain.ptr)
        secret_wipe(plain.ptr, plain.len);
    buf_release(&plain);
    return rc;
}

enum errc run_secret_value(struct child *c, const char *place, struct str *ret, struct err *e)
{
    size_t input;
    return input_of(c, str_c(place), &input) ? open_value(c, input, ret, e)
         : FAIL(e, UNPROCESSABLE, "the secret with the credentials has been deleted since the job was submitted");
}

static enum errc put_file(int root, struct child *c, const struct run_secret *want, struct str value, struct err *e)
{
    CLEANUP(fd_closep) int dir = openat(root, BOX_SECRETS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(fd_closep) int fd = openat(dir, str_z(c->arena, want->target), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    return fd >= 0 && write(fd, value.ptr, value.len) == (ssize_t)value.len ? ERR_OK :
        FAIL(e, IO, "a secret's file cannot be written");
}

static enum errc put_variable(struct run_secrets *s, struct child *c, const struct run_secret *want, struct str value,
    struct err *e)
{
    if (memchr(value.ptr, '\0', value.len))
        return FAIL(e, UNPROCESSABLE, "the secret %.*s has a NUL in it and cannot be a variable; ask for it as a file",
            STR_ARG(want->name));
    const size_t head = want->target.len + 1;
    char *text = arena_alloc(c->arena, head + value.len + 1);
    memcpy(text, want->target.ptr, want->target.len);
    text[head - 1] = '=';
    memcpy(text + head, value.ptr, value.len);
    text[head + value.len] = '\0';
    s->env[s->nenv++] = str_n(text, head + value.len);
    return ERR_OK;
}

static enum errc open_one(struct run_secrets *s, struct child *c, struct str text, int root, struct err *e)
{
    struct run_secret want;
    struct str *value = &s->values[s->n];
    size_t input;
    if (!run_secret(text, &want))
        return FAIL(e, INVALID, "the secret %.*s has another form", STR_ARG(text));
    if (!input_of(c, want.place, &input))
        return FAIL(e, UNPROCESSABLE, "the secret %.*s has been deleted since the job was submitted", STR_ARG(want.name));
    TRY(open_value(c, input, value, e));
    s->n++;
    TRY(mask_add(s->mask, *value, e));
    TRY(want.as == RUN_SECRET_FILE ? put_file(root, c, &want, *value, e) : put_variable(s, c, &want, *value, e));
    run_note(c, "info: secret %.*s@%ld as %s %.*s", STR_ARG(want.name), (long)want.version, want.as == RUN_SECRET_FILE ? "file" :
        "variable",
             STR_ARG(want.target));
    return ERR_OK;
}

enum errc run_secrets_open(struct child *c, const struct run_job *job, int root, struct run_secrets *ret, struct err *e)
{
    const struct str *all = job->secrets.items;
    *ret = (struct run_secrets){ 0 };
    if (!job->secrets.n)
        return ERR_OK;
    TRY(mask_new(&ret->mask, e));
    for (size_t i = 0; i < job->secrets.n; i++)
        TRY(open_one(ret, c, all[i], root, e));
    mask_ready(ret->mask);
    return ERR_OK;
}

void run_secrets_close(struct run_secrets *s)
{
    for (size_t i = 0; i < s->n; i++)
        secret_wipe((char *)(uintptr_t)s->values[i].ptr, s->values[i].len);
    for (size_t i = 0; i < s->nenv; i++)
        secret_wipe((char *)(uintptr_t)s->env[i].ptr, s->env[i].len);
    mask_free(s->mask);
    *s = (struct run_secrets){ 0 };
}
