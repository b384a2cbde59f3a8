/* SPDX-License-Identifier: Apache-2.0 */
/* test_pkcs11_session.c - a real SoftHSM 2 that is taken away from the provider in every way it can be, and given back: sessions
 * closed, logged out, the library ended, the token gone; a PIN that is wrong is tried once; modules and tokens that are not
 * there; roots that were imported. Each time the store is sealed with a reason, and works again without being opened anew. */
#include "tests/lib/wait.h"
#include "softhsm_test.h"

static struct hsm hsm;
#define F provider_pkcs11

static struct aad here;
static struct key_blob blob;
static const struct blob_head head = { .tenant = { { 1 } } };

static enum errc use(void *p, struct err *e)
{
    struct secret32 key = { { 1, 2, 3 } }, out;
    struct key_blob another;
    TRY(F.unwrap(p, head, &here, &blob, &out, e));
    assert_memory_equal(key.b, out.b, 32);
    return F.wrap(p, head, &here, &key, &another, e);
}

static void *usable(const struct provider_config *c)
{
    struct secret32 key = { { 1, 2, 3 } };
    void *p = hsm_open(c);
    OK(F.wrap(p, head, &here, &key, &blob, NULL));
    return p;
}

/* It comes back within the pauses of the breaker. */
static void comes_back(void *p)
{
    WAIT_WHILE(F.health(p, NULL) != ERR_OK);
    OK(use(p, NULL));
}

static void test_sessions_closed_behind_its_back(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = usable(&c);
    uint8_t sig[64], point[P256_POINT];
    uint32_t version;
    (void)state;
    CK_SLOT_ID slot = hsm_slot(&hsm, "main");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(hsm.f->C_CloseAllSessions(slot), CKR_OK);
        OK(use(p, NULL));
        assert_int_equal(hsm.f->C_CloseAllSessions(slot), CKR_OK);
        OK(F.sign(p, "x", 1, sig, NULL));
    }
    assert_int_equal(hsm.f->C_CloseAllSessions(slot), CKR_OK);
    OK(F.health(p, NULL));
    assert_int_equal(hsm.f->C_CloseAllSessions(slot), CKR_OK);
    OK(F.root_new(p, &version, NULL));
    OK(F.import_public(p, point, NULL));
    OK(use(p, NULL));
    F.close(p);
}

static void test_logged_out_behind_its_back(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = usable(&c);
    uint8_t sig[64];
    (void)state;
    CK_SESSION_HANDLE s = hsm_session(&hsm, "main");
    assert_int_equal(hsm.f->C_Logout(s), CKR_OK);
    OK(use(p, NULL));
    assert_int_equal(hsm.f->C_Logout(s), CKR_OK);
    OK(F.sign(p, "x", 1, sig, NULL));
    F.close(p);
}

static void test_library_ended_behind_its_back(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = usable(&c), *q = usable(&c);
    (void)state;
    assert_int_equal(hsm.f->C_Finalize(NULL), CKR_OK);
    comes_back(p);
    OK(use(q, NULL));
    F.close(p);
    OK(use(q, NULL));
    F.close(q);
}

static void test_token_taken_away(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    void *p = usable(&c), *q;
    struct err e;
    static struct attest a;
    (void)state;
    CK_SLOT_ID slot = hsm_slot(&hsm, "main");
    assert_int_equal(rename(hsm.tokens, hsm.aside), 0);
    assert_int_equal(mkdir(hsm.tokens, 0700), 0);
    assert_int_equal(hsm.f->C_CloseAllSessions(slot), CKR_OK);
    assert_int_equal(use(p, &e), ERR_SEALED);
    assert_true(strlen(e.msg) > 10);
    print_message("without its token: %s\n", e.msg);
    const clock_t start = clock();                              /* processor time: others may be busy */
    for (int i = 0; i < 1000; i++)                              /* at once, and without asking the token each time */
        assert_int_equal(F.health(p, &e), ERR_SEALED);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    OK(F.attest(p, &a, NULL));
    assert_true(a.is_sealed && a.reason[0]);
    q = hsm_open(&c);                                           /* a start without the token */
    assert_int_equal(use(q, &e), ERR_SEALED);
    assert_int_equal(rmdir(hsm.tokens), 0);
    assert_int_equal(rename(hsm.aside, hsm.tokens), 0);
    comes_back(p);
    comes_back(q);
    F.close(p);
    F.close(q);
}

static void test_wrong_pin_is_tried_once(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    struct err e;
    (void)state;
    file_put(hsm.pin_file, "4321\n");
    void *p = hsm_open(&c);
    assert_int_equal(F.health(p, &e), ERR_SEALED);
    assert_non_null(strstr(e.msg, "PIN"));
    print_message("%s\n", e.msg);
    file_put(hsm.pin_file, "1234\n");
    usleep(500000);
    assert_int_equal(F.health(p, &e), ERR_SEALED);              /* the right one is not tried either */
    assert_non_null(strstr(e.msg, "CKR_PIN_INCORRECT"));
    F.close(p);
    p = usable(&c);
    OK(use(p, NULL));
    F.close(p);
}

static void pin_refused(const char *why)
{
    struct provider_config c = hsm_config(&hsm, "main");
    struct err e;
    void *p = hsm_open(&c);
    assert_int_equal(F.health(p, &e), ERR_SEALED);
    if (!strstr(e.msg, why))
        fail_msg("%s, not %s", e.msg, why);
    F.close(p);
}

static void test_pin_files(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main");
    char other[128], credential[128];
    (void)state;
    for (unsigned mode = 0601; mode < 0700; mode += 3) {
        chmod(hsm.pin_file, mode);
        if ((mode & 077) != 0)
            pin_refused("open to others");
    }
    chmod(hsm.pin_file, 0600);
    snprintf(other, sizeof other, "%s.other", hsm.pin_file);
    assert_int_equal(rename(hsm.pin_file, other), 0);
    pin_refused("cannot be opened");
    assert_int_equal(symlink(other, hsm.pin_file), 0);
    pin_refused("symbolic link");
    unlink(hsm.pin_file);
    assert_int_equal(link(other, hsm.pin_file), 0);
    pin_refused("regular file");
    unlink(hsm.pin_file);
    assert_int_equal(mkfifo(hsm.pin_file, 0600), 0);
    pin_refused("regular file");
    unlink(hsm.pin_file);
    file_put(hsm.pin_file, "123");
    pin_refused("holds no PIN");
    file_put(hsm.pin_file, "");
    pin_refused("holds no PIN");
    if (geteuid() == 0) {
        file_put(hsm.pin_file, "1234");
        assert_int_equal(chown(hsm.pin_file, 12345, 0), 0);
        pin_refused("another user");
    }
    unlink(hsm.pin_file);
    c.pin_file = NULL;
    void *p = hsm_open(&c);
    assert_int_equal(F.health(p, NULL), ERR_SEALED);
    F.close(p);
    snprintf(credential, sizeof credential, "%s/falaj-pin", hsm.dir);
    assert_int_equal(rename(other, credential), 0);
    setenv("CREDENTIALS_DIRECTORY", hsm.dir, 1);
    p = usable(&c);
    F.close(p);
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_int_equal(rename(credential, hsm.pin_file), 0);
}

static void sealed_for(const struct provider_config *c, const char *why)
{
    struct err e;
    static struct attest a;
    void *p = hsm_open(c);
    assert_int_equal(F.health(p, &e), ERR_SEALED);
    if (!strstr(e.msg, why))
        fail_msg("%s, not %s", e.msg, why);
    assert_int_equal(use(p, NULL), ERR_SEALED);
    OK(F.attest(p, &a, NULL));
    assert_true(a.is_sealed && strstr(a.reason, why));
    F.close(p);
}

static void test_nothing_there(void **state)
{
    struct provider_config c = hsm_config(&hsm, "main"), d;
    void *p = NULL;
    (void)state;
    c.path = "/nonexistent.so";
    sealed_for(&c, "cannot be loaded");
    c.path = hsm.conf;
    sealed_for(&c, "cannot be loaded");
    c.path = "libz.so.1";
    sealed_for(&c, "C_GetFunctionList");
    c = hsm_config(&hsm, "nobody");
    sealed_for(&c, "no token has the label");
    d = hsm_config(&hsm, "main");
    d.zone = STR("ae-auh-1");
    sealed_for(&d, "no root key of this zone");
    c.token_label = "";
    assert_int_equal(F.open(&c, &p, NULL), ERR_INVALID);
    c.token_label = NULL;
    assert_int_equal(F.open(&c, &p, NULL), ERR_INVALID);
    assert_int_equal(p11_token_init(HSM_MODULE, "main", hsm.pin_file, hsm.so_pin_file, NULL), ERR_EXISTS);
}

/* A key of the right name that came from outside has copies there. */
static void test_imported_root(void **state)
{
    struct provider_config c, aside;
    static struct attest a;
    CK_ULONG n = 0;
    uint8_t id[64], value[32] = { 7 };
    CK_OBJECT_HANDLE root = 0;
    (void)state;
    hsm_token(&hsm, "imported");
    c = aside = hsm_config(&hsm, "imported");
    aside.zone = STR("zz-top-1");
    aside.is_init = true;
    void *p = hsm_open(&c);
    OK(F.attest(p, &a, NULL));
    CK_SESSION_HANDLE s = hsm_session(&hsm, "imported");
    CK_ATTRIBUTE label = { CKA_LABEL, a.roots[0].label, strlen(a.roots[0].label) }, get = { CKA_ID, id, sizeof id };
    assert_int_equal(hsm.f->C_FindObjectsInit(s, &label, 1), CKR_OK);
    assert_int_equal(hsm.f->C_FindObjects(s, &root, 1, &n), CKR_OK);
    assert_int_equal(hsm.f->C_FindObjectsFinal(s), CKR_OK);
    assert_int_equal(hsm.f->C_GetAttributeValue(s, root, &get, 1), CKR_OK);
    hsm_import_aes(&hsm, s, value, "falaj-root-ae-dxb-1-v2", id, get.ulValueLen);
    F.close(p);
    sealed_for(&c, "not made in the token");
    void *q = hsm_open(&aside);                                 /* another zone on the same token minds its own */
    OK(F.health(q, NULL));
    F.close(q);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    log_setup("test", getenv("KEYS_TEST_LOG") ? LOG_INFO : LOG_ERROR + 1, LOGFMT, STDERR_FILENO);
    hsm_setup(&hsm);
    hsm_token(&hsm, "main");
    aad_init(&here, "here");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sessions_closed_behind_its_back),
        cmocka_unit_test(test_logged_out_behind_its_back),
        cmocka_unit_test(test_library_ended_behind_its_back),
        cmocka_unit_test(test_token_taken_away),
        cmocka_unit_test(test_wrong_pin_is_tried_once),
        cmocka_unit_test(test_pin_files),
        cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_imported_root),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    hsm_teardown(&hsm);
    return rc;
}
