/* SPDX-License-Identifier: Apache-2.0 */
/* secmem.c - memory for keys: OpenSSL's secure heap, which is mlocked, guarded by unmapped pages and marked MADV_DONTDUMP.
 *
 * CRYPTO_secure_malloc_init answers 1 for a locked heap and 2 for one that could not be locked; OPENSSL_secure_malloc answers
 * with plain memory before init. Both traps are closed here. */
#include "core/crypto/secmem.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { SECMEM_NONE, SECMEM_LOCKED, SECMEM_UNLOCKED };
enum { SECMEM_MIN_BYTES = 64 * 1024, SECMEM_MIN_BLOCK = 32 };

/* What CRYPTO_secure_malloc_init answered; the library itself does not tell a locked heap from another afterwards. */
static _Atomic int secmem_state;

enum errc secmem_init(size_t bytes, bool require_locked, struct err *e)
{
    if (bytes < SECMEM_MIN_BYTES || (bytes & (bytes - 1)) != 0)
        return FAIL(e, INVALID, "the locked heap must be a power of two of at least 64 KiB, not %zu bytes", bytes);
    int state = atomic_load(&secmem_state);
    if (state == SECMEM_NONE) {
        state = CRYPTO_secure_malloc_init(bytes, SECMEM_MIN_BLOCK);
        if (state != SECMEM_LOCKED && state != SECMEM_UNLOCKED)
            return FAIL(e, UNAVAILABLE, "no memory for the locked heap of %zu bytes", bytes);
        atomic_store(&secmem_state, state);
    }
    if (require_locked && state != SECMEM_LOCKED)
        return FAIL(e, UNAVAILABLE, "the heap for keys cannot be locked; raise LimitMEMLOCK above %zu bytes", bytes);
    return ERR_OK;
}

bool secmem_is_ready(void)
{
    return atomic_load(&secmem_state) != SECMEM_NONE;
}

bool secmem_is_locked(void)
{
    return atomic_load(&secmem_state) == SECMEM_LOCKED;
}

size_t secmem_used(void)
{
    return secmem_is_ready() ? CRYPTO_secure_used() : 0;
}

bool secmem_done(void)
{
    if (!secmem_is_ready())
        return true;
    if (CRYPTO_secure_malloc_done() != 1)
        return false;
    atomic_store(&secmem_state, SECMEM_NONE);
    return true;
}

struct secret32 *secret32_new(void)
{
    if (!secmem_is_ready())
        return NULL;
    return OPENSSL_secure_zalloc(sizeof(struct secret32));
}

void secret32_free(struct secret32 *s)
{
    OPENSSL_secure_clear_free(s, sizeof *s);
}

void secret32_freep(struct secret32 **s)
{
    secret32_free(*s);
    *s = NULL;
}

void *secret_alloc(size_t n)
{
    return secmem_is_ready() ? OPENSSL_secure_zalloc(n) : NULL;
}

void secret_free(void *p, size_t n)
{
    OPENSSL_secure_clear_free(p, n);
}

bool secret_is_secure(const void *p)
{
    return CRYPTO_secure_allocated(p) == 1;
}

void secret_wipe(void *p, size_t n)
{
    if (n > 0)
        OPENSSL_cleanse(p, n);
}

void secret32_wipe(struct secret32 *s)
{
    OPENSSL_cleanse(s->b, sizeof s->b);
}

enum errc process_harden(struct err *e)
{
    const struct rlimit none = { 0, 0 };
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0
        || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        int saved = errno;
        (void)FAIL(e, UNAVAILABLE, "the process cannot be hardened");
        (void)err_errno(e, saved);
        return ERR_UNAVAILABLE;
    }
    return ERR_OK;
}
