/* SPDX-License-Identifier: Apache-2.0 */
/* engine_login.c - what a credential's file must be is checked on what was opened. */
#include "scheduler/duty/engine_login.h"
#include "core/base/cleanup.h"
#include "core/table/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CREDENTIAL_MAX = 65536 };

const char *engine_file(const struct config *cfg, struct arena *a, struct str file)
{
    const char *folder = *cfg->scheduler_engines_dir ? cfg->scheduler_engines_dir : "/etc/falaj/engines";
    return arena_printf(a, "%s/%.*s", folder, STR_ARG(file));
}

enum errc engine_login(const struct config *cfg, struct arena *a, struct str file, struct engine_call *call, struct err *e)
{
    const char *path = engine_file(cfg, a, file);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return FAIL(e, IO, "its credential %.*s cannot be read on the scheduler's machine: %s", STR_ARG(file), strerror(errno));
    if (!S_ISREG(st.st_mode) || (st.st_mode & 077))
        return FAIL(e, IO, "its credential %.*s must be a file that only the scheduler's account may read (mode 0600)",
                    STR_ARG(file));
    char *text = arena_alloc(a, CREDENTIAL_MAX + 1);
    ssize_t n = read(fd, text, CREDENTIAL_MAX);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r' || text[n - 1] == ' '))
        n--;
    if (n <= 0)
        return FAIL(e, IO, "its credential %.*s is empty", STR_ARG(file));
    const struct str all = str_n(text, (size_t)n);
    if (str_starts(all, "-----BEGIN CERTIFICATE-----")) {
        text[n] = '\0';
        if (!strstr(text, "PRIVATE KEY-----"))
            return FAIL(e, IO, "its credential %.*s has a certificate and no key behind it", STR_ARG(file));
        call->cert_file = path;
        return ERR_OK;
    }
    for (size_t i = 0; i < all.len; i++)
        if (all.ptr[i] <= ' ' || all.ptr[i] > '~')
            return FAIL(e, IO, "its credential %.*s must be one line with a token, or a certificate and its key (PEM)",
                        STR_ARG(file));
    call->credential = all;
    return ERR_OK;
}
