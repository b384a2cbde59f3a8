/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_init.c - a blank token becomes one of ours: label, SO PIN, user PIN. Source: PKCS #11 v2.40, 5.5.
 *
 * A token that is initialised already is never touched: C_InitToken would erase it. Some libraries give the token another slot
 * afterwards, so it is looked for again by its label. */
#include <string.h>
#include "core/base/cleanup.h"
#include "keys/pkcs11_int.h"
#include "keys/pkcs11_pin.h"

enum { SLOTS_MAX = 256 };

static enum errc blank_find(CK_FUNCTION_LIST *f, CK_SLOT_ID *ret, struct err *e)
{
    CK_SLOT_ID slots[SLOTS_MAX];
    CK_ULONG n = SLOTS_MAX;
    char buf[24];
    CK_RV rv = f->C_GetSlotList(CK_TRUE, slots, &n);
    if (rv != CKR_OK || n > SLOTS_MAX)
        return FAIL(e, SEALED, "the module answered %s to C_GetSlotList", p11_rv_name(rv, buf));
    for (CK_ULONG i = 0; i < n; i++) {
        CK_TOKEN_INFO info = { .flags = CKF_TOKEN_INITIALIZED };
        if (f->C_GetTokenInfo(slots[i], &info) == CKR_OK && !(info.flags & CKF_TOKEN_INITIALIZED)) {
            *ret = slots[i];
            return ERR_OK;
        }
    }
    return FAIL(e, NOT_FOUND, "the module has no blank token");
}

static enum errc pin_set(CK_FUNCTION_LIST *f, CK_SLOT_ID slot, struct pin *pin, struct pin *so_pin, struct err *e)
{
    CK_SESSION_HANDLE h = 0;
    char buf[24];
    CK_RV rv = f->C_OpenSession(slot, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &h);
    if (rv != CKR_OK)
        return FAIL(e, SEALED, "the token answered %s to C_OpenSession", p11_rv_name(rv, buf));
    rv = f->C_Login(h, CKU_SO, so_pin->b, so_pin->n);
    if (rv == CKR_OK) {
        rv = f->C_InitPIN(h, pin->b, pin->n);
        (void)f->C_Logout(h);
    }
    (void)f->C_CloseSession(h);
    return rv == CKR_OK ? ERR_OK : FAIL(e, SEALED, "the token answered %s when its PIN was set", p11_rv_name(rv, buf));
}

static enum errc token_make(CK_FUNCTION_LIST *f, const char *label, struct pin *pin, struct pin *so_pin, struct err *e)
{
    CK_SLOT_ID slot;
    CK_TOKEN_INFO info;
    unsigned char padded[32];
    char buf[24];
    enum errc rc = p11_slot_find(f, label, &slot, &info, e);
    if (rc == ERR_OK)
        return FAIL(e, EXISTS, "there is a token of that label already; it is left as it is");
    if (rc != ERR_NOT_FOUND)
        return rc;
    TRY(blank_find(f, &slot, e));
    memset(padded, ' ', sizeof padded);
    memcpy(padded, label, strlen(label));
    CK_RV rv = f->C_InitToken(slot, so_pin->b, so_pin->n, padded);
    if (rv != CKR_OK)
        return FAIL(e, SEALED, "the token answered %s to C_InitToken", p11_rv_name(rv, buf));
    TRY(p11_slot_find(f, label, &slot, &info, e));
    return pin_set(f, slot, pin, so_pin, e);
}

enum errc p11_token_init(const char *module, const char *label, const char *pin_file, const char *so_pin_file, struct err *e)
{
    struct p11_module *m = NULL;
    CLEANUP(pin_freep) struct pin *pin = NULL;
    CLEANUP(pin_freep) struct pin *so_pin = NULL;
    if (strlen(label) == 0 || strlen(label) > 32)
        return FAIL(e, INVALID, "the label of a token has 1 to 32 bytes");
    TRY(pin_read(pin_file, &pin, e));
    TRY(pin_read(so_pin_file, &so_pin, e));
    TRY(p11_module_open(module, &m, e));
    (void)p11_module_enter(m);
    enum errc rc = token_make(m->f, label, pin, so_pin, e);
    p11_module_leave(m);
    p11_module_close(m);
    return rc;
}
