/* SPDX-License-Identifier: Apache-2.0 */
/* test_client.c - the client against the real falaj-keyd on its real socket: every verb, moves between places, kill -9 and
 * restart, strangers, sealing, root rotation, the prod profile, many threads. */
#include "tests/lib/wait.h"
#include "keys_test.h"
#include <pthread.h>
#include "core/crypto/stream.h"

static char dir[] = "/tmp/falaj-keyd-XXXXXX";
static char socket_path[128], file[128], map[256];
static pid_t pid;
static struct keyd_client *client;
static const char *const init_args[] = { "--init", NULL };

static int setup(void **state)
{
    (void)state;
    pid = keyd_spawn(socket_path, file, init_args);
    OK(keyd_client_new(str_c(map), 5000, &client, NULL));
    assert_true(keyd_wait(client) >= 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    keyd_client_freep(&client);
    return keyd_end(pid, SIGTERM);
}

static void test_keys(void **state)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1), t2;
    struct dek_ref d = a_dek(t.tenant), d2 = d;
    struct key_blob tkek, wrapped, hidden;
    struct secret32 *made = secret32_new(), *opened = secret32_new();
    (void)state;
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, made, NULL));
    OK(keyd_dek_open(client, &t, &tkek, &d, &wrapped, opened, NULL));
    assert_memory_equal(made->b, opened->b, 32);
    OK(keyd_dek_new(client, &t, &tkek, &d, &hidden, NULL, NULL));
    OK(keyd_dek_open(client, &t, &tkek, &d, &hidden, opened, NULL));
    assert_memory_not_equal(made->b, opened->b, 32);
    d2.object_version = 2;
    assert_int_equal(keyd_dek_open(client, &t, &tkek, &d2, &wrapped, opened, NULL), ERR_DAMAGED);
    t2 = t;
    t2.tenant = d2.tenant = uuid_v7(5);                         /* the rows of one tenant copied to another */
    d2.object_version = 1;
    assert_int_equal(keyd_dek_open(client, &t2, &tkek, &d2, &wrapped, opened, NULL), ERR_DAMAGED);
    t2 = t;
    t2.purpose = STR("pii");
    assert_int_equal(keyd_dek_open(client, &t2, &tkek, &d, &wrapped, opened, NULL), ERR_DAMAGED);
    t2 = t;
    t2.zone = STR("ae-auh-1");
    assert_int_equal(keyd_tkek_new(client, &t2, &tkek, NULL), ERR_UNAVAILABLE);
    t.version = 0;
    assert_int_equal(keyd_tkek_new(client, &t, &tkek, NULL), ERR_INVALID);
    secret32_free(made);
    secret32_free(opened);
}

static void test_other_zone_behind_the_socket(void **state)
{
    struct keyd_client *wrong = NULL;
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct key_blob blob;
    struct err e;
    char text[256];
    (void)state;
    snprintf(text, sizeof text, "ae-auh-1=%s", socket_path);
    OK(keyd_client_new(str_c(text), 1000, &wrong, NULL));
    t.zone = STR("ae-auh-1");
    assert_int_equal(keyd_tkek_new(wrong, &t, &blob, &e), ERR_RESIDENCY);
    assert_int_equal(keyd_tkek_new(client, &t, &blob, &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(e.msg, "ae-auh-1"));
    keyd_client_free(wrong);
    assert_int_equal(keyd_client_new(STR("nonsense"), 1000, &wrong, NULL), ERR_INVALID);
    assert_int_equal(keyd_client_new(STR("a=/x,a=/y"), 1000, &wrong, NULL), ERR_INVALID);
    OK(keyd_client_new(STR(" a=/x , b=/y "), 1000, &wrong, NULL));       /* as people write lists */
    assert_true(keyd_client_has_zone(wrong, STR("a")) && keyd_client_has_zone(wrong, STR("b")));
    keyd_client_free(wrong);
    OK(keyd_client_new(STR(""), 1000, &wrong, NULL));
    assert_false(keyd_client_has_zone(wrong, ZONE));
    keyd_client_free(wrong);
}

static void test_release(void **state)
{
    enum { N = RELEASE_KEYS_MAX };
    static struct keyd_release_item items[N];
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct key_blob tkek;
    struct uuid ids[N];
    struct release_key keys[N];
    struct secret32 worker, made[N];
    uint8_t message[RELEASE_MESSAGE_MAX];
    size_t len = 0;
    struct release_terms terms = { ZONE, uuid_v7(7), uuid_v7(8), 3, clock_wall_us(&clock_system) + 60000000, { 0 } }, other;
    (void)state;
    OK(x25519_keygen(&worker, terms.worker_key, NULL));
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    for (int i = 0; i < N; i++) {
        items[i] = (struct keyd_release_item){ t, tkek, a_dek(t.tenant), { 0 } };
        ids[i] = items[i].dek.dek_id;
        OK(keyd_dek_new(client, &t, &tkek, &items[i].dek, &items[i].wrapped, &made[i], NULL));
    }
    OK(keyd_release(client, &terms, items, N, message, &len, NULL));
    OK(release_open(&worker, &terms, ids, N, message, len, keys, NULL));
    for (int i = 0; i < N; i++)
        assert_memory_equal(keys[i].key.b, made[i].b, 32);
    other = terms;
    other.fence++;
    assert_int_equal(release_open(&worker, &other, ids, N, message, len, keys, NULL), ERR_DAMAGED);
    other = terms;
    other.not_after_us = 1;
    assert_int_equal(keyd_release(client, &other, items, 1, message, &len, NULL), ERR_INVALID);
    assert_int_equal(keyd_release(client, &terms, items, 0, message, &len, NULL), ERR_INVALID);
    items[1].tkek.tenant = items[1].dek.tenant = uuid_v7(99);
    assert_int_equal(keyd_release(client, &terms, items, 2, message, &len, NULL), ERR_DAMAGED);
    OK(keyd_tkek_new(client, &items[1].tkek, &items[1].tkek_blob, NULL));
    OK(keyd_dek_new(client, &items[1].tkek, &items[1].tkek_blob, &items[1].dek, &items[1].wrapped, NULL, NULL));
    assert_int_equal(keyd_release(client, &terms, items, 2, message, &len, NULL), ERR_INVALID);   /* two tenants */
}

static void test_signing(void **state)
{
    uint8_t sig[64], pub[32], id[32], id2[32], big[1 << 16] = { 7 };
    (void)state;
    OK(keyd_public_key(client, ZONE, pub, id, NULL));
    OK(keyd_sign(client, ZONE, "head", 4, sig, id2, NULL));
    assert_true(ed25519_verify(pub, "head", 4, sig));
    assert_memory_equal(id, id2, 32);
    OK(keyd_sign(client, ZONE, big, sizeof big, sig, id2, NULL));
    assert_true(ed25519_verify(pub, big, sizeof big, sig));
    OK(keyd_sign(client, ZONE, "", 0, sig, id2, NULL));
    assert_true(ed25519_verify(pub, "", 0, sig));
}

static void test_roots_and_imports(void **state)
{
    static struct attest a;
    struct tkek_ref t = a_tkek(uuid_v7(1), 1), s = a_tkek(t.tenant, 2);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob tkek, again, wrapped;
    struct secret32 made, opened, own = { { 42 } };
    struct aad aad;
    uint8_t point[P256_POINT], ephemeral[P256_POINT], sealed[IMPORT_SEALED];
    uint32_t version = 0, first;
    bool was_there = false;
    (void)state;
    OK(keyd_attest(client, ZONE, &a, NULL));
    first = a.current_root;
    assert_false(a.is_sealed || a.is_hardware);
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    OK(keyd_root_new(client, ZONE, UUID_NIL, &version, NULL));
    assert_int_equal(version, first + 1);
    OK(keyd_tkek_rewrap(client, &t, &tkek, &again, &version, NULL));
    assert_int_equal(version, first + 1);
    assert_int_equal(keyd_root_destroy(client, ZONE, UUID_NIL, version, &was_there, NULL), ERR_CONFLICT);
    OK(keyd_root_destroy(client, ZONE, UUID_NIL, first, &was_there, NULL));
    assert_true(was_there);
    assert_int_equal(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL), ERR_DAMAGED);   /* not from the cache either */
    OK(keyd_dek_open(client, &t, &again, &d, &wrapped, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    assert_int_equal(keyd_root_new(client, ZONE, t.tenant, &version, NULL), ERR_NOT_FOUND);
    OK(keyd_forget(client, ZONE, NULL));
    OK(keyd_import_public(client, ZONE, point, NULL));
    import_aad(ZONE, t.tenant, &aad);
    OK(import_seal(point, &aad, &own, ephemeral, sealed, NULL));
    OK(keyd_tkek_import(client, &t, ephemeral, sealed, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    OK(dek_unwrap(&own, &t, &d, &wrapped, &opened, NULL));       /* it is really the tenant's key */
    assert_memory_equal(made.b, opened.b, 32);
    struct tkek_ref other = a_tkek(uuid_v7(77), 1);
    assert_int_equal(keyd_tkek_import(client, &other, ephemeral, sealed, &tkek, NULL), ERR_DAMAGED);
    assert_int_equal(keyd_sovereign_new(client, &s, &tkek, NULL), ERR_UNPROCESSABLE);
    assert_int_equal(keyd_sovereign_destroy(client, &s, &was_there, NULL), ERR_UNPROCESSABLE);
    sovereign_make(&s, (uint8_t[SOVEREIGN_ID]){ 1 }, &tkek);
    assert_int_equal(keyd_dek_new(client, &s, &tkek, &d, &wrapped, &made, NULL), ERR_UNPROCESSABLE);
    assert_int_equal(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL), ERR_DAMAGED);
}

static void test_kill_and_restart(void **state)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob tkek, wrapped;
    struct secret32 made, opened;
    struct stat st;
    (void)state;
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    keyd_end(pid, SIGKILL);
    assert_int_equal(stat(socket_path, &st), 0);                 /* the stale socket stays */
    assert_int_equal(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL), ERR_UNAVAILABLE);
    pid = keyd_spawn(socket_path, file, NULL);
    int64_t ready_ms = keyd_wait(client);
    assert_true(ready_ms >= 0);
    print_message("ready after %lld ms\n", (long long)ready_ms);
    OK(keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    int64_t start = now_ms();
    assert_int_equal(keyd_end(pid, SIGTERM), 0);                 /* with our connection still open */
    int64_t took = now_ms() - start;
    print_message("stopped after %lld ms\n", (long long)took);
    assert_true(took < 2000);
    assert_int_not_equal(stat(socket_path, &st), 0);
    pid = keyd_spawn(socket_path, file, NULL);
    assert_true(keyd_wait(client) >= 0);
}

static void test_seal_and_unseal(void **state)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct key_blob tkek;
    struct keyd_health h = { 0 };
    (void)state;
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    kill(pid, SIGUSR1);
    WAIT_WHILE(keyd_health(client, ZONE, &h, NULL) == ERR_OK && !h.is_sealed);
    assert_true(h.is_sealed && h.cached_tkeks == 0);
    assert_int_equal(keyd_tkek_new(client, &t, &tkek, NULL), ERR_SEALED);
    assert_int_equal(keyd_sign(client, ZONE, "x", 1, (uint8_t[64]){ 0 }, (uint8_t[32]){ 0 }, NULL), ERR_SEALED);
    kill(pid, SIGHUP);
    WAIT_WHILE(keyd_health(client, ZONE, &h, NULL) == ERR_OK && h.is_sealed);
    assert_false(h.is_sealed);
    assert_string_equal(h.provider, "softfile");
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
}

static void test_rotation(void **state)
{
    static const char *const rotate[] = { "--rotate-root", NULL };
    struct tkek_ref t = a_tkek(uuid_v7(1), 1), t2 = a_tkek(t.tenant, 2);
    struct dek_ref d = a_dek(t.tenant);
    struct key_blob tkek, again, tkek2, wrapped, moved;
    struct secret32 made, opened;
    struct keyd_health h;
    uint32_t version = 0;
    (void)state;
    OK(keyd_tkek_new(client, &t, &tkek, NULL));
    OK(keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL));
    assert_int_equal(keyd_end(pid, SIGTERM), 0);
    pid = keyd_spawn(socket_path, file, rotate);
    assert_true(keyd_wait(client) >= 0);
    OK(keyd_health(client, ZONE, &h, NULL));
    OK(keyd_tkek_rewrap(client, &t, &tkek, &again, &version, NULL));
    assert_int_equal(version, h.root_version);
    assert_true(version >= 2);
    OK(keyd_dek_open(client, &t, &again, &d, &wrapped, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    OK(keyd_tkek_new(client, &t2, &tkek2, NULL));
    OK(keyd_dek_rewrap(client, &t, &again, &t2, &tkek2, &d, &wrapped, &moved, NULL));
    OK(keyd_dek_open(client, &t2, &tkek2, &d, &moved, &opened, NULL));
    assert_memory_equal(made.b, opened.b, 32);
    assert_int_equal(keyd_dek_open(client, &t2, &tkek2, &d, &wrapped, &opened, NULL), ERR_DAMAGED);
}

static int as_uid(uid_t uid)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct keyd_client *c = NULL;
        struct keyd_health h;
        if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0
            || keyd_client_new(str_c(map), 2000, &c, NULL) != ERR_OK)
            _exit(255);
        _exit((int)keyd_health(c, ZONE, &h, NULL));
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void test_strangers(void **state)
{
    static const char *const allow[] = { "--allow-uid", "12345", NULL };
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(as_uid(12345), ERR_UNAVAILABLE);           /* the mode of the socket */
    assert_int_equal(keyd_end(pid, SIGTERM), 0);
    pid = keyd_spawn(socket_path, file, allow);
    assert_true(keyd_wait(client) >= 0);
    assert_int_equal(as_uid(12345), ERR_OK);
    assert_int_equal(as_uid(54321), ERR_FORBIDDEN);             /* SO_PEERCRED */
}

static void test_refused_starts(void **state)
{
    static const char *const prod[] = { "--profile", "prod", NULL }, *const bad[] = { "--profile", "x", NULL };
    char path[160];
    (void)state;
    snprintf(path, sizeof path, "%s/none.sock", dir);
    assert_int_equal(WEXITSTATUS(keyd_end(keyd_spawn(path, file, prod), 0)), 1);
    assert_int_equal(WEXITSTATUS(keyd_end(keyd_spawn(path, file, bad), 0)), 2);
    assert_int_equal(WEXITSTATUS(keyd_end(keyd_spawn(path, "/nonexistent", NULL), 0)), 1);
    assert_int_equal(WEXITSTATUS(keyd_end(keyd_spawn("/nonexistent/s", file, NULL), 0)), 1);
    assert_int_equal(chmod(file, 0640), 0);
    assert_int_equal(WEXITSTATUS(keyd_end(keyd_spawn(path, file, NULL), 0)), 1);
    assert_int_equal(chmod(file, 0600), 0);
}

static void *many_calls(void *p)
{
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct key_blob tkek, wrapped;
    struct secret32 made, opened;
    int *bad = p;
    for (int i = 0; i < 100; i++) {
        struct dek_ref d = a_dek(t.tenant);
        bool ok = keyd_tkek_new(client, &t, &tkek, NULL) == ERR_OK
                  && keyd_dek_new(client, &t, &tkek, &d, &wrapped, &made, NULL) == ERR_OK
                  && keyd_dek_open(client, &t, &tkek, &d, &wrapped, &opened, NULL) == ERR_OK
                  && memcmp(made.b, opened.b, 32) == 0;
        *bad += !ok;
    }
    return NULL;
}

/* More threads than the daemon has connections: idle ones make room, and no call is lost. */
static void test_many_threads(void **state)
{
    enum { THREADS = 80 };
    pthread_t thread[THREADS];
    int bad[THREADS] = { 0 };
    (void)state;
    int64_t start = now_ms();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, many_calls, &bad[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(bad[i], 0);
    }
    print_message("%d calls in %lld ms\n", THREADS * 300, (long long)(now_ms() - start));
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    assert_non_null(mkdtemp(dir));
    snprintf(socket_path, sizeof socket_path, "%s/s", dir);
    snprintf(file, sizeof file, "%s/root.key", dir);
    snprintf(map, sizeof map, "ae-dxb-1=%s", socket_path);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),           cmocka_unit_test(test_other_zone_behind_the_socket),
        cmocka_unit_test(test_release),        cmocka_unit_test(test_signing),
        cmocka_unit_test(test_roots_and_imports),
        cmocka_unit_test(test_kill_and_restart), cmocka_unit_test(test_seal_and_unseal),
        cmocka_unit_test(test_rotation),       cmocka_unit_test(test_refused_starts),
        cmocka_unit_test(test_many_threads),   cmocka_unit_test(test_strangers),
    };
    int rc = cmocka_run_group_tests(tests, setup, teardown);
    unlink(file);
    unlink(socket_path);
    rmdir(dir);
    return rc;
}
