/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - the operator's files are read once at start; a mistake in them stops the start. */
#include "api/trust.h"
#include <fcntl.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/table/config.h"
#include "keys/client.h"

enum { FILE_MAX = 1 << 20 };

static enum errc read_file(struct arena *a, const char *path, struct str *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    char chunk[4096];
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
        if (!buf_add(&b, chunk, (size_t)n))
            return FAIL(e, INVALID, "%s is too large for certificates", path);
    if (n < 0)
        return FAIL(e, IO, "cannot read %s", path);
    *ret = str_dup(a, buf_str(&b));
    return ERR_OK;
}

/* "FILE" or "ZONE=FILE" */
static enum errc add_file(struct mtls_trust *t, struct arena *a, struct str item, struct err *e)
{
    struct str zone, path, pem;
    if (!str_cut(item, '=', &zone, &path)) {
        path = item;
        zone = STR_NULL;
    }
    TRY(read_file(a, str_z(a, path), &pem, e));
    enum errc rc = mtls_trust_add(t, zone, pem, false, e);
    return rc == ERR_OK ? ERR_OK : err_note(e, "api.worker_ca, %.*s", STR_ARG(item));
}

enum errc trust_open(const struct app *app, struct mtls_trust **ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
    struct mtls_trust *t = mtls_trust_new();
    struct str item, rest = str_c(app->config->api_worker_ca);
    enum errc rc = ERR_OK;
    for (bool more = rest.len > 0; more && rc == ERR_OK;) {
        more = str_cut(rest, ',', &item, &rest);
        rc = add_file(t, a, str_trim(item), e);
    }
    if (rc != ERR_OK) {
        mtls_trust_free(t);
        return rc;
    }
    (void)trust_refresh(app, t);
    *ret = t;
    return ERR_OK;
}

bool trust_refresh(const struct app *app, struct mtls_trust *t)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct str item, zone, path, pem, rest = str_c(app->config->keys_sockets);
    bool is_new = false;
    for (bool more = rest.len > 0; more;) {
        struct err e;
        more = str_cut(rest, ',', &item, &rest);
        if (!str_cut(str_trim(item), '=', &zone, &path) || mtls_trust_has(t, zone, true))
            continue;
        if (keyd_ca_certificate(app->keyd, a, zone, &pem, &e) == ERR_OK && mtls_trust_add(t, zone, pem, true, &e) == ERR_OK)
            is_new = true;
        else
            log_err(LOG_WARN, "trust.zone_without_authority", &e);
    }
    return is_new;
}
