/* SPDX-License-Identifier: Apache-2.0 */
/* softhsm_test.h - a scratch SoftHSM 2 of a test: its folder, its PINs, its tokens, and the module itself behind the provider's back. */
#pragma once
#include "keys_test.h"
#include <dlfcn.h>
#include <fcntl.h>
#include "core/base/log.h"
#include "keys/pkcs11_int.h"

#define HSM_MODULE "/usr/lib/softhsm/libsofthsm2.so"

struct hsm {
    char dir[64], conf[96], pin_file[96], so_pin_file[96], tokens[96], aside[96];
    CK_FUNCTION_LIST *f;
};

static inline void file_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static inline void hsm_setup(struct hsm *h)
{
    CK_RV (*get_list)(CK_FUNCTION_LIST **) = NULL;
    char text[256];
    snprintf(h->dir, sizeof h->dir, "/tmp/falaj-hsm-XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    snprintf(h->conf, sizeof h->conf, "%s/conf", h->dir);
    snprintf(h->pin_file, sizeof h->pin_file, "%s/pin", h->dir);
    snprintf(h->so_pin_file, sizeof h->so_pin_file, "%s/so", h->dir);
    snprintf(h->tokens, sizeof h->tokens, "%s/tokens", h->dir);
    snprintf(h->aside, sizeof h->aside, "%s/aside", h->dir);
    assert_int_equal(mkdir(h->tokens, 0700), 0);
    snprintf(text, sizeof text, "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n", h->tokens);
    file_put(h->conf, text);
    file_put(h->pin_file, "1234\n");
    file_put(h->so_pin_file, "56785678");
    setenv("SOFTHSM2_CONF", h->conf, 1);
    void *dl = dlopen(HSM_MODULE, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(dl);
    *(void **)&get_list = dlsym(dl, "C_GetFunctionList");
    assert_int_equal(get_list(&h->f), CKR_OK);
}

/* Only below the folder that hsm_setup made. */
static inline void hsm_teardown(const struct hsm *h)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", h->dir);
    assert_int_equal(strncmp(h->dir, "/tmp/falaj-hsm-", 15), 0);
    assert_int_equal(system(command), 0);
}

static inline struct provider_config hsm_config(const struct hsm *h, const char *label)
{
    return (struct provider_config){ .zone = ZONE, .path = HSM_MODULE, .token_label = label, .pin_file = h->pin_file };
}

static inline void *hsm_open(const struct provider_config *c)
{
    void *p = NULL;
    OK(provider_pkcs11.open(c, &p, NULL));
    return p;
}

/* A new token with the keys of the zone. */
static inline void hsm_token(const struct hsm *h, const char *label)
{
    struct provider_config c = hsm_config(h, label);
    struct err e;
    OK(p11_token_init(HSM_MODULE, label, h->pin_file, h->so_pin_file, NULL));
    c.is_init = true;
    void *p = hsm_open(&c);
    if (provider_pkcs11.health(p, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    provider_pkcs11.close(p);
}

static inline CK_SLOT_ID hsm_slot(const struct hsm *h, const char *label)
{
    CK_SLOT_ID slot = 0;
    CK_TOKEN_INFO info;
    OK(p11_slot_find(h->f, label, &slot, &info, NULL));
    return slot;
}

/* A session of ours, logged in by whoever is. */
static inline CK_SESSION_HANDLE hsm_session(const struct hsm *h, const char *label)
{
    CK_SESSION_HANDLE s = 0;
    assert_int_equal(h->f->C_OpenSession(hsm_slot(h, label), CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &s), CKR_OK);
    return s;
}

/* An AES-256 key with these bytes: in the token when label is given. */
static inline CK_OBJECT_HANDLE hsm_import_aes(const struct hsm *h, CK_SESSION_HANDLE s, const uint8_t key[32], const char *label,
                                              const uint8_t *id, CK_ULONG id_len)
{
    CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_AES;
    CK_OBJECT_HANDLE ret = 0;
    CK_ATTRIBUTE t[] = { { CKA_CLASS, &class, sizeof class },
                         { CKA_KEY_TYPE, &type, sizeof type },
                         { CKA_TOKEN, label ? &yes : &no, 1 },
                         { CKA_SENSITIVE, &yes, 1 },
                         { CKA_EXTRACTABLE, &no, 1 },
                         { CKA_ENCRYPT, &yes, 1 },
                         { CKA_DECRYPT, &yes, 1 },
                         { CKA_WRAP, &yes, 1 },
                         { CKA_UNWRAP, &yes, 1 },
                         { CKA_VALUE, (void *)key, 32 },
                         { CKA_LABEL, (void *)label, label ? strlen(label) : 0 },
                         { CKA_ID, (void *)id, id_len } };
    assert_int_equal(h->f->C_CreateObject(s, t, label ? 12 : 10, &ret), CKR_OK);
    return ret;
}
