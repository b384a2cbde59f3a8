/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_module.h - a PKCS#11 module (a vendor's shared library) in this process: found, checked, initialised, begun anew.
 *
 * C_Initialize belongs to the process, so two tokens behind one library share one struct p11_module. Calls of the library are
 * made between p11_module_enter and p11_module_leave; p11_module_reset waits for all of them, ends the library and begins it
 * again, after which every session and handle of `generation` before is void. Modules are never unloaded: libraries leave threads
 * and exit handlers behind. Errors: SEALED with the reason. Thread-safe. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <p11-kit/pkcs11.h>
#include "core/base/err.h"

enum { P11_PATH_MAX = 512 };

struct p11_module {
    char path[P11_PATH_MAX];
    CK_FUNCTION_LIST *f;            /* every function this folder uses is there */
    pthread_rwlock_t lock;          /* read: a call is in the library; write: it is begun anew */
    uint64_t generation;            /* under lock */
    bool is_initialized;            /* under lock */
    unsigned users;                 /* under the lock of the list */
    struct p11_module *next;
};

MUST_CHECK enum errc p11_module_open(const char *path, struct p11_module **ret, struct err *e);
/* The same around a list of functions that is there already: a fake one, in tests. */
MUST_CHECK enum errc p11_module_open_list(const char *name, CK_FUNCTION_LIST *f, struct p11_module **ret, struct err *e);
void p11_module_close(struct p11_module *m);
uint64_t p11_module_enter(struct p11_module *m);        /* the generation */
void p11_module_leave(struct p11_module *m);
/* Nothing happens when the generation is another one already: somebody else did it. */
MUST_CHECK enum errc p11_module_reset(struct p11_module *m, uint64_t generation, struct err *e);

/* "CKR_PIN_INCORRECT"; unknown ones as hexadecimal, in buf. */
const char *p11_rv_name(CK_RV rv, char buf[24]);
/* The token, the session or the login is gone: connecting again may help. */
bool p11_rv_is_lost(CK_RV rv);
/* The PIN was refused: trying again would lock the token. */
bool p11_rv_is_pin(CK_RV rv);
