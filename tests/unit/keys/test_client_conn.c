/* SPDX-License-Identifier: Apache-2.0 */
/* test_client_conn.c - the link to the real falaj-keyd falls silent in the middle of a request or an answer: a caller waits its
 * limit and no longer, and the next call has a connection of its own. */
#include "keys_test.h"
#include "tests/lib/cut_link.h"

enum { LIMIT_MS = 300, PATIENCE_MS = 60000 };

static char dir[] = "/tmp/falaj-cut-XXXXXX", socket_path[128], file[128], link_path[90];
static pid_t pid;

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(socket_path, sizeof socket_path, "%s/keyd.sock", dir);
    snprintf(file, sizeof file, "%s/root", dir);
    snprintf(link_path, sizeof link_path, "%s/link.sock", dir);
    pid = keyd_spawn(socket_path, file, (const char *const[]){ "--init", NULL });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    int rc = keyd_end(pid, SIGTERM);
    unlink(file);
    unlink(socket_path);
    rmdir(dir);
    return rc;
}

/* To be freed by the caller. */
static struct keyd_client *client_of(const char *path, int timeout_ms)
{
    char map[160];
    struct keyd_client *c = NULL;
    snprintf(map, sizeof map, "ae-dxb-1=%s", path);
    OK(keyd_client_new(str_c(map), timeout_ms, &c, NULL));
    return c;
}

static void a_link_cut_in_a_message_costs_the_limit(void **state)
{
    (void)state;
    static const struct { int64_t up, down; } cuts[] = { { 1, -1 }, { 9, -1 }, { -1, 1 }, { -1, 9 }, { -1, 40 } };
    struct keyd_client *whole = client_of(socket_path, PATIENCE_MS), *brief = client_of(link_path, LIMIT_MS);
    struct keyd_client *patient = client_of(link_path, PATIENCE_MS);
    struct tkek_ref t = a_tkek(uuid_v7(1), 1);
    struct key_blob blob;
    struct err e;
    assert_true(keyd_wait(whole) >= 0);
    struct cut_link l;
    cut_link_unix(&l, link_path, socket_path);
    OK(keyd_tkek_new(patient, &t, &blob, NULL));
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        cut_link_after(&l, cuts[i].up, cuts[i].down);
        int64_t since = now_ms();
        assert_int_equal(keyd_tkek_new(brief, &t, &blob, &e), ERR_DEADLINE);
        assert_true(now_ms() - since < PATIENCE_MS / 2);
        assert_int_equal(atomic_load(&l.cuts), 1);
        assert_non_null(strstr(e.msg, "in time"));
    }
    cut_link_after(&l, -1, -1);
    OK(keyd_tkek_new(patient, &t, &blob, NULL));
    OK(keyd_tkek_new(whole, &t, &blob, NULL));
    keyd_client_free(patient);
    keyd_client_free(brief);
    keyd_client_free(whole);
    cut_link_free(&l);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_cut_in_a_message_costs_the_limit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
