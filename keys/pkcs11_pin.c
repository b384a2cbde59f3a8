/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_pin.c - the PIN of a token, from its file. */
#include "keys/pkcs11_pin.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/crypto/secmem.h"

enum { PIN_MIN = 4 };

static enum errc file_check(int fd, bool is_credential, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
        return FAIL(e, SEALED, "the PIN file is not a regular file with one name");
    if (st.st_uid != geteuid() && !(is_credential && st.st_uid == 0))
        return FAIL(e, SEALED, "the PIN file belongs to another user");
    if ((st.st_mode & 077) != 0)
        return FAIL(e, SEALED, "the PIN file is open to others (mode %o); make it 0600", st.st_mode & 07777u);
    return ERR_OK;
}

static enum errc pin_fill(int fd, struct pin *p, struct err *e)
{
    ssize_t got = 1;
    while (got > 0 && p->n < sizeof p->b) {
        got = read(fd, p->b + p->n, sizeof p->b - p->n);
        p->n += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        return FAIL(e, SEALED, "the PIN file cannot be read");
    if (p->n > 0 && p->b[p->n - 1] == '\n')
        p->n--;
    if (p->n < PIN_MIN || p->n > PIN_MAX || memchr(p->b, 0, p->n))
        return FAIL(e, SEALED, "the PIN file holds no PIN: %d to %d bytes on one line", PIN_MIN, PIN_MAX);
    return ERR_OK;
}

enum errc pin_read(const char *path, struct pin **ret, struct err *e)
{
    char credential[512];
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    bool is_credential = !path;
    if (!path && !folder)
        return FAIL(e, SEALED, "no PIN file is configured and there is no credential");
    if (!path) {
        int n = snprintf(credential, sizeof credential, "%s/falaj-pin", folder);
        if (n < 0 || (size_t)n >= sizeof credential)
            return FAIL(e, SEALED, "the path of the credential is too long");
        path = credential;
    }
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        int saved = errno;
        (void)FAIL(e, SEALED, saved == ELOOP ? "the PIN file is a symbolic link" : "the PIN file cannot be opened");
        (void)err_errno(e, saved);
        return ERR_SEALED;
    }
    TRY(file_check(fd, is_credential, e));
    CLEANUP(pin_freep) struct pin *p = secret_alloc(sizeof *p);
    if (!p)
        return FAIL(e, SEALED, "no locked memory for the PIN");
    TRY(pin_fill(fd, p, e));
    *ret = TAKE(p);
    return ERR_OK;
}

void pin_free(struct pin *p)
{
    if (p)
        secret_free(p, sizeof *p);
}

void pin_freep(struct pin **p)
{
    pin_free(*p);
    *p = NULL;
}
