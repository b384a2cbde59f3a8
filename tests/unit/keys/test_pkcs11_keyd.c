/* SPDX-License-Identifier: Apache-2.0 */
/* test_pkcs11_keyd.c - the real falaj-keyd on a real SoftHSM 2 in the prod profile: every verb, sovereign keys through all of
 * them, a tenant whose root is in its own token; and on modules that are missing or hostile: up, sealed, with a reason. */
#include "tests/lib/wait.h"
#include "softhsm_test.h"

static struct hsm hsm;
static char socket_path[128], map[256], hostile[512], tenant_text[40], tenant_root[256];
static struct keyd_client *client;
static struct uuid own_token_tenant;

static pid_t spawn(const char *const *extra)
{
    char bin[512];
    const char *argv[32] = { bin, "--zone", "ae-dxb-1", "--log", "logfmt" };
    size_t n = 5;
    snprintf(bin, sizeof bin, "%s/falaj-keyd", getenv("FALAJ_BIN"));
    for (; *extra; extra++)
        argv[n++] = *extra;
    argv[n] = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        if (!getenv("KEYS_TEST_LOG"))
            (void)(!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout));
        execv(bin, (char *const *)argv);
        _exit(127);
    }
    return pid;
}

static pid_t keyd_on(const char *module, const char *label, const char *profile)
{
    const char *const args[] = { "--socket", socket_path, "--module", module, "--token-label", label, "--pin-file", hsm.pin_file,
                                 "--profile", profile, "--tenant-root", tenant_root, "--init", NULL };
    pid_t pid = spawn(args);
    OK(keyd_client_new(str_c(map), 5000, &client, NULL));
    assert_true(keyd_wait(client) >= 0);
    return pid;
}

static void keyd_off(pid_t pid)
{
    keyd_client_freep(&client);
    assert_int_equal(keyd_end(pid, SIGTERM), 0);
}

static void test_every_verb(void **state)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob tkek, again, wrapped;
    struct secret32 made, opened;
    static struct attest a;
    struct keyd_health h;
    uint8_t sig[64], pub[32], id[32];
    uint32_t version = 0;
    bool was_there = false;
    (void)state;
    pid_t pid = keyd_on(HSM_MODULE, "zone", "prod");
    OK(keyd_health(client, ZONE, &h, NULL));
    assert_true(!h.is_sealed && h.is_hardware && h.root_version == 1 && !h.reason[0]);
    assert_string_equal(h.provider, "pkcs11");
    assert_string_equal(h.mechanism, "aes-256-gcm");
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    OK(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    OK(keyd_sign(client, ZONE, "head", 4, sig, id, NULL));
    OK(keyd_public_key(client, ZONE, pub, id, NULL));
    assert_true(ed25519_verify(pub, "head", 4, sig));
    OK(keyd_root_new(client, ZONE, UUID_NIL, &version, NULL));
    OK(keyd_tkek_rewrap(client, &t, &tkek, &again, &version, NULL));
    assert_int_equal(version, 2);
    OK(keyd_root_destroy(client, ZONE, UUID_NIL, 1, &was_there, NULL));
    assert_true(was_there);
    assert_int_equal(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL), ERR_DAMAGED);
    OK(keyd_dek_open(client, &t, &again, &d, &wrapped, &opened, NULL));
    OK(keyd_attest(client, ZONE, &a, NULL));
    assert_true(a.is_hardware && a.n_roots == 1 && a.roots[0].version == 2 && a.roots[0].is_never_extractable
                && a.n_tenants == 1);
    assert_string_equal(a.tenants[0].token_label, "tenant");
    kill(pid, SIGUSR1);
    WAIT_WHILE(keyd_health(client, ZONE, &h, NULL) == ERR_OK && !h.is_sealed);
    assert_string_equal(h.reason, "sealed by the operator");
    kill(pid, SIGHUP);
    WAIT_WHILE(keyd_health(client, ZONE, &h, NULL) == ERR_OK && h.is_sealed);
    OK(keyd_dek_open(client, &t, &again, &d, &wrapped, &opened, NULL));
    keyd_off(pid);
}

/* A reference where a wrapped key stands, and no caller knows the difference. */
static void sovereign(struct uuid tenant)
{
    struct tkek_ref t = a_tkek(tenant, 1), t2 = a_tkek(tenant, 2);
    struct dek_ref d = a_dek(tenant);
    struct key_blob tkek, again, plain, wrapped, moved;
    struct secret32 made, opened, worker;
    struct release_key keys[1];
    uint8_t message[RELEASE_MESSAGE_MAX];
    size_t len = 0;
    uint32_t version = 0;
    bool was_there = false;
    struct release_terms terms = { .zone = ZONE, .worker_id = uuid_v7(3), .job_id = uuid_v7(4), .fence = 9,
                                   .not_after_us = clock_wall_us(&clock_system) + 60000000 };
    OK(x25519_keygen(&worker, terms.worker_key, NULL));
    OK(keyd_sovereign_new(client, &t, &tkek, NULL));
    assert_true(tkek_is_sovereign(&tkek));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    OK(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    struct keyd_release_item item = { t, tkek, d, wrapped };
    OK(keyd_release(client, &terms, &item, 1, message, &len, NULL));
    OK(release_open(&worker, &terms, &d.dek_id, 1, message, len, keys, NULL));
    assert_memory_equal(made.b, keys[0].key.b, 32);
    OK(keyd_tkek_rewrap(client, &t, &tkek, &again, &version, NULL));
    assert_memory_equal(tkek.b, again.b, tkek.n);
    OK(keyd_tkek_new(client, &t2, &plain, NULL));               /* out of the token's key, under one of the root's */
    OK(keyd_dek_rewrap(client, &t, &tkek, &t2, &plain, &d, &wrapped, &moved, NULL));
    OK(keyd_dek_open(client, &t2, &plain, &d, &moved, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    OK(keyd_sovereign_destroy(client, &t, &was_there, NULL));
    assert_true(was_there);
    assert_int_equal(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL), ERR_NOT_FOUND);
    OK(keyd_sovereign_destroy(client, &t, &was_there, NULL));
    assert_false(was_there);
}

static void test_sovereign_keys(void **state)
{
    (void)state;
    pid_t pid = keyd_on(HSM_MODULE, "zone", "prod");
    sovereign(uuid_v7(1));
    sovereign(own_token_tenant);
    keyd_off(pid);
}

static void test_a_tenants_own_root(void **state)
{
    struct tkek_ref t = a_tkek(own_token_tenant, 1);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob tkek, again, wrapped;
    struct secret32 made, opened;
    struct keyd_health h;
    uint32_t zone = 0, version = 0;
    (void)state;
    pid_t pid = keyd_on(HSM_MODULE, "zone", "prod");
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    OK(keyd_root_new(client, ZONE, own_token_tenant, &version, NULL));
    assert_int_equal(version, 2);
    OK(keyd_health(client, ZONE, &h, NULL));
    OK(keyd_root_new(client, ZONE, UUID_NIL, &zone, NULL));     /* the zone's counts for itself */
    assert_int_equal(zone, h.root_version + 1);
    OK(keyd_tkek_rewrap(client, &t, &tkek, &again, &version, NULL));
    assert_int_equal(version, 2);
    OK(keyd_root_destroy(client, ZONE, own_token_tenant, 1, NULL, NULL));
    assert_int_equal(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL), ERR_DAMAGED);
    OK(keyd_dek_open(client, &t, &again, &d, &wrapped, &opened, NULL));
    assert_int_equal(keyd_root_new(client, ZONE, uuid_v7(5), &version, NULL), ERR_NOT_FOUND);
    keyd_off(pid);
}

static void sealed_on(const char *module, const char *label, const char *why)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct key_blob tkek;
    struct keyd_health h;
    static struct attest a;
    struct err e;
    pid_t pid = keyd_on(module, label, "dev");
    OK(keyd_health(client, ZONE, &h, NULL));
    print_message("%s: %s\n", why, h.reason);
    assert_true(h.is_sealed && h.reason[0]);
    if (!strstr(h.reason, why))
        fail_msg("%s, not %s", h.reason, why);
    assert_int_equal(keyd_tkek_new(client, &t, &tkek, &e), ERR_SEALED);
    OK(keyd_attest(client, ZONE, &a, NULL));
    assert_true(a.is_sealed && a.reason[0]);
    keyd_off(pid);
}

/* What its message promises: a PIN that was refused is tried again after SIGHUP, and only then. */
static void test_unsealed_by_a_signal(void **state)
{
    struct keyd_health h;
    (void)state;
    file_put(hsm.pin_file, "9999");
    pid_t pid = keyd_on(HSM_MODULE, "zone", "prod");
    OK(keyd_health(client, ZONE, &h, NULL));
    assert_true(h.is_sealed);
    assert_non_null(strstr(h.reason, "SIGHUP"));
    file_put(hsm.pin_file, "1234");
    OK(keyd_health(client, ZONE, &h, NULL));
    assert_true(h.is_sealed);
    kill(pid, SIGHUP);
    WAIT_WHILE(keyd_health(client, ZONE, &h, NULL) == ERR_OK && h.is_sealed);
    assert_false(h.is_sealed);
    keyd_off(pid);
}

static void test_sealed_with_a_reason(void **state)
{
    (void)state;
    sealed_on("/nonexistent/module.so", "zone", "cannot be loaded");
    sealed_on(HSM_MODULE, "nobody", "no token has the label");
    file_put(hsm.pin_file, "9999");
    sealed_on(HSM_MODULE, "zone", "refused the PIN");
    file_put(hsm.pin_file, "1234");
    setenv("HOSTILE", "null", 1);
    sealed_on(hostile, "fake", "gives no functions");
    setenv("HOSTILE", "empty", 1);
    sealed_on(hostile, "fake", "lacks functions");
    setenv("HOSTILE", "crooked", 1);
    sealed_on(hostile, "fake", "lacks functions");
}

/* Whatever it says: keyd answers, and ends in order. */
static void test_hostile_modules(void **state)
{
    char script[2 * 200 + 1];
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob tkek, wrapped;
    struct secret32 made;
    struct keyd_health h;
    uint32_t seed = 7;
    (void)state;
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 200; i++) {
            seed = seed * 1664525u + 1013904223u;
            snprintf(script + 2 * i, 3, "%02x", (seed >> 24) % 8 == 0 ? 236 + (seed >> 16) % 6 : (seed >> 8) % 230);
        }
        setenv("HOSTILE", script, 1);
        pid_t pid = keyd_on(hostile, "fake", "dev");
        for (int i = 0; i < 20; i++) {
            OK(keyd_health(client, ZONE, &h, NULL));
            if (keyd_tkek_new(client, &t, &tkek, NULL) == ERR_OK)
                (void)!keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL);
        }
        keyd_off(pid);
    }
    unsetenv("HOSTILE");
}

static void test_init_token(void **state)
{
    const char *const args[] = { "--init-token", "--module", HSM_MODULE, "--token-label", "third", "--pin-file", hsm.pin_file,
                                 "--so-pin-file", hsm.so_pin_file, NULL };
    const char *const blank[] = { "--init-token", "--module", HSM_MODULE, "--token-label", "fourth", "--pin-file", hsm.pin_file,
                                 NULL };
    struct provider_config c = hsm_config(&hsm, "third");
    (void)state;
    assert_int_equal(keyd_end(spawn(args), 0), 0);
    assert_int_equal(keyd_end(spawn(args), 0), 0);              /* again: nothing is initialised twice */
    assert_int_not_equal(keyd_end(spawn(blank), 0), 0);
    void *p = hsm_open(&c);
    OK(provider_pkcs11.health(p, NULL));
    provider_pkcs11.close(p);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    log_setup("test", LOG_ERROR + 1, LOGFMT, STDERR_FILENO);
    hsm_setup(&hsm);
    hsm_token(&hsm, "zone");
    hsm_token(&hsm, "tenant");
    own_token_tenant = uuid_v7(1234567);
    hex_encode(own_token_tenant.b, 16, tenant_text);
    snprintf(tenant_root, sizeof tenant_root, "tnt_%s=%s,tenant,%s", tenant_text, HSM_MODULE, hsm.pin_file);
    snprintf(socket_path, sizeof socket_path, "%s/s", hsm.dir);
    snprintf(map, sizeof map, "ae-dxb-1=%s", socket_path);
    snprintf(hostile, sizeof hostile, "%s/../tests/libhostile_p11.so", getenv("FALAJ_BIN"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_verb),           cmocka_unit_test(test_sovereign_keys),
            cmocka_unit_test(test_a_tenants_own_root),
        cmocka_unit_test(test_unsealed_by_a_signal), cmocka_unit_test(test_sealed_with_a_reason),
            cmocka_unit_test(test_hostile_modules),
        cmocka_unit_test(test_init_token),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    hsm_teardown(&hsm);
    return rc;
}
