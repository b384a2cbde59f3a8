/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_module.c - a PKCS#11 module in this process.
 *
 * Loaded with RTLD_LOCAL, so that its symbols do not mix with ours, and RTLD_NOW, so that a library with missing symbols fails
 * here and not in the middle of a call. Source: PKCS #11 v2.40, 5.4 and 5.20. */
#include "keys/pkcs11_module.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The modules of the process; the one place that C_Initialize leaves us for them. */
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
static struct p11_module *modules;

const char *p11_rv_name(CK_RV rv, char buf[24])
{
    static const struct {
        CK_RV rv;
        const char *name;
    } names[] = {
#define NAME(rv) { rv, #rv }
        NAME(CKR_OK), NAME(CKR_HOST_MEMORY), NAME(CKR_SLOT_ID_INVALID), NAME(CKR_GENERAL_ERROR), NAME(CKR_FUNCTION_FAILED),
        NAME(CKR_ARGUMENTS_BAD), NAME(CKR_CANT_LOCK), NAME(CKR_ATTRIBUTE_SENSITIVE), NAME(CKR_ATTRIBUTE_TYPE_INVALID),
        NAME(CKR_ATTRIBUTE_VALUE_INVALID), NAME(CKR_DATA_INVALID), NAME(CKR_DATA_LEN_RANGE), NAME(CKR_DEVICE_ERROR),
        NAME(CKR_DEVICE_MEMORY), NAME(CKR_DEVICE_REMOVED), NAME(CKR_ENCRYPTED_DATA_INVALID), NAME(CKR_FUNCTION_NOT_SUPPORTED),
        NAME(CKR_KEY_HANDLE_INVALID), NAME(CKR_KEY_FUNCTION_NOT_PERMITTED), NAME(CKR_MECHANISM_INVALID),
        NAME(CKR_MECHANISM_PARAM_INVALID), NAME(CKR_OBJECT_HANDLE_INVALID), NAME(CKR_OPERATION_ACTIVE), NAME(CKR_PIN_INCORRECT),
        NAME(CKR_PIN_INVALID), NAME(CKR_PIN_LEN_RANGE), NAME(CKR_PIN_EXPIRED), NAME(CKR_PIN_LOCKED), NAME(CKR_SESSION_CLOSED),
        NAME(CKR_SESSION_COUNT), NAME(CKR_SESSION_HANDLE_INVALID), NAME(CKR_SESSION_READ_ONLY), NAME(CKR_TEMPLATE_INCOMPLETE),
        NAME(CKR_TEMPLATE_INCONSISTENT), NAME(CKR_TOKEN_NOT_PRESENT), NAME(CKR_TOKEN_NOT_RECOGNIZED),
        NAME(CKR_TOKEN_WRITE_PROTECTED), NAME(CKR_USER_NOT_LOGGED_IN), NAME(CKR_USER_PIN_NOT_INITIALIZED),
        NAME(CKR_WRAPPED_KEY_INVALID), NAME(CKR_WRAPPED_KEY_LEN_RANGE), NAME(CKR_RANDOM_NO_RNG), NAME(CKR_BUFFER_TOO_SMALL),
        NAME(CKR_CRYPTOKI_NOT_INITIALIZED), NAME(CKR_CRYPTOKI_ALREADY_INITIALIZED),
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].rv == rv)
            return names[i].name;
    snprintf(buf, 24, "CKR 0x%lx", rv);
    return buf;
}

bool p11_rv_is_lost(CK_RV rv)
{
    switch (rv) {
    case CKR_SESSION_HANDLE_INVALID:
    case CKR_SESSION_CLOSED:
    case CKR_DEVICE_REMOVED:
    case CKR_TOKEN_NOT_PRESENT:
    case CKR_TOKEN_NOT_RECOGNIZED:
    case CKR_SLOT_ID_INVALID:
    case CKR_USER_NOT_LOGGED_IN:
    case CKR_CRYPTOKI_NOT_INITIALIZED:
    case CKR_KEY_HANDLE_INVALID:
    case CKR_OBJECT_HANDLE_INVALID:
    case CKR_WRAPPING_KEY_HANDLE_INVALID:
    case CKR_OPERATION_ACTIVE: return true;
    default: return false;
    }
}

bool p11_rv_is_pin(CK_RV rv)
{
    return rv == CKR_PIN_INCORRECT || rv == CKR_PIN_INVALID || rv == CKR_PIN_LEN_RANGE || rv == CKR_PIN_EXPIRED
           || rv == CKR_PIN_LOCKED || rv == CKR_USER_PIN_NOT_INITIALIZED;
}

static bool has_all_functions(const CK_FUNCTION_LIST *f)
{
    return f && (f->version.major == 2 || f->version.major == 3) && f->C_Initialize && f->C_Finalize && f->C_GetInfo
           && f->C_GetSlotList && f->C_GetSlotInfo && f->C_GetTokenInfo && f->C_GetMechanismInfo && f->C_InitToken && f->C_InitPIN
           && f->C_OpenSession && f->C_CloseSession && f->C_GetSessionInfo && f->C_Login && f->C_Logout && f->C_CreateObject
           && f->C_DestroyObject && f->C_GetAttributeValue && f->C_FindObjectsInit && f->C_FindObjects && f->C_FindObjectsFinal
           && f->C_EncryptInit && f->C_Encrypt && f->C_DecryptInit && f->C_Decrypt && f->C_SignInit && f->C_Sign
               && f->C_GenerateKey
           && f->C_GenerateKeyPair && f->C_WrapKey && f->C_UnwrapKey && f->C_DeriveKey && f->C_GenerateRandom;
}

static enum errc initialize(struct p11_module *m, struct err *e)
{
    char buf[24];
    CK_C_INITIALIZE_ARGS args = { .flags = CKF_OS_LOCKING_OK };
    CK_RV rv = m->f->C_Initialize(&args);
    if (rv != CKR_OK && rv != CKR_CRYPTOKI_ALREADY_INITIALIZED)
        return FAIL(e, SEALED, "the PKCS#11 module does not start: %s", p11_rv_name(rv, buf));
    m->is_initialized = true;
    m->generation++;
    return ERR_OK;
}

static struct p11_module *module_new(const char *path, CK_FUNCTION_LIST *f)
{
    struct p11_module *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    snprintf(m->path, sizeof m->path, "%s", path);
    m->f = f;
    pthread_rwlock_init(&m->lock, NULL);
    m->next = modules;
    modules = m;
    return m;
}

static enum errc load(const char *path, CK_FUNCTION_LIST **ret, struct err *e)
{
    CK_RV (*get_list)(CK_FUNCTION_LIST **) = NULL;
    char buf[24];
    void *dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!dl) {
        const char *why = dlerror();
        (void)FAIL(e, SEALED, "the PKCS#11 module cannot be loaded");
        return err_note(e, "%s", why ? why : path);
    }
    *(void **)&get_list = dlsym(dl, "C_GetFunctionList");
    if (!get_list)
        return FAIL(e, SEALED, "the library is not a PKCS#11 module: it has no C_GetFunctionList");
    CK_RV rv = get_list(ret);
    return rv == CKR_OK && *ret ? ERR_OK : FAIL(e, SEALED, "the PKCS#11 module gives no functions: %s", p11_rv_name(rv, buf));
}

/* With the lock of the list held. f NULL: load it. */
static enum errc open_locked(const char *path, CK_FUNCTION_LIST *f, struct p11_module **ret, struct err *e)
{
    struct p11_module *m = modules;
    while (m && (strcmp(m->path, path) != 0 || (f && m->f != f)))
        m = m->next;
    if (!m) {
        if (!f)
            TRY(load(path, &f, e));
        if (!has_all_functions(f))
            return FAIL(e, SEALED, "the PKCS#11 module lacks functions that are needed, or has an unknown version");
        m = module_new(path, f);
        if (!m)
            return FAIL(e, SEALED, "no memory for the PKCS#11 module");
    }
    enum errc rc = ERR_OK;
    pthread_rwlock_wrlock(&m->lock);
    if (!m->is_initialized)
        rc = initialize(m, e);
    pthread_rwlock_unlock(&m->lock);
    TRY(rc);
    m->users++;
    *ret = m;
    return ERR_OK;
}

enum errc p11_module_open(const char *path, struct p11_module **ret, struct err *e)
{
    if (strlen(path) >= P11_PATH_MAX)
        return FAIL(e, SEALED, "the path of the PKCS#11 module is too long");
    pthread_mutex_lock(&modules_lock);
    enum errc rc = open_locked(path, NULL, ret, e);
    pthread_mutex_unlock(&modules_lock);
    return rc;
}

enum errc p11_module_open_list(const char *name, CK_FUNCTION_LIST *f, struct p11_module **ret, struct err *e)
{
    pthread_mutex_lock(&modules_lock);
    enum errc rc = open_locked(name, f, ret, e);
    pthread_mutex_unlock(&modules_lock);
    return rc;
}

void p11_module_close(struct p11_module *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&modules_lock);
    if (--m->users == 0) {
        pthread_rwlock_wrlock(&m->lock);
        if (m->is_initialized)
            (void)m->f->C_Finalize(NULL);       /* nothing could be done about it */
        m->is_initialized = false;
        pthread_rwlock_unlock(&m->lock);
    }
    pthread_mutex_unlock(&modules_lock);
}

uint64_t p11_module_enter(struct p11_module *m)
{
    pthread_rwlock_rdlock(&m->lock);
    return m->generation;
}

void p11_module_leave(struct p11_module *m)
{
    pthread_rwlock_unlock(&m->lock);
}

enum errc p11_module_reset(struct p11_module *m, uint64_t generation, struct err *e)
{
    enum errc rc = ERR_OK;
    pthread_rwlock_wrlock(&m->lock);
    if (m->generation == generation) {
        if (m->is_initialized)
            (void)m->f->C_Finalize(NULL);
        m->is_initialized = false;
        rc = initialize(m, e);
    }
    pthread_rwlock_unlock(&m->lock);
    return rc;
}
