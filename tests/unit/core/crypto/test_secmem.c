/* SPDX-License-Identifier: Apache-2.0 */
/* test_secmem.c - nothing before init, the locked heap after it, exhaustion is NULL, and a required lock is required. */
#include "crypto_test.h"
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/crypto/secmem.h"

/* In a child: a limit of no locked memory, which root alone would pass, so it also leaves root. */
static void test_required_lock(void **state)
{
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_MEMLOCK, &none);
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(9);
        bool is_right = secmem_init(1 << 20, true, NULL) == ERR_UNAVAILABLE && secmem_init(1 << 20, false, NULL) == ERR_OK
                        && !secmem_is_locked() && secmem_init(1 << 20, true, NULL) == ERR_UNAVAILABLE;
        _exit(is_right ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_heap(void **state)
{
    struct secret32 *s, *many[4000];
    size_t n = 0;
    (void)state;
    assert_null(secret32_new());
    assert_null(secret_alloc(64));
    assert_int_equal(secmem_init(1000, false, NULL), ERR_INVALID);
    OK(secmem_init(1 << 16, false, NULL));
    s = secret32_new();
    assert_non_null(s);
    assert_true(secret_is_secure(s));
    assert_false(secret_is_secure(&n));
    assert_false(secmem_done());
    while (n < 4000 && (many[n] = secret32_new()))
        n++;
    assert_true(n > 100 && n < 4000);
    while (n > 0)
        secret32_free(many[--n]);
    secret32_freep(&s);
    assert_null(s);
    assert_int_equal(secmem_used(), 0);
    assert_true(secmem_done());
    assert_null(secret32_new());
}

static void test_wipe_and_harden(void **state)
{
    struct secret32 s = { { 1, 2, 3 } };
    const uint8_t zero[32] = { 0 };
    struct rlimit limit;
    (void)state;
    secret32_wipe(&s);
    assert_memory_equal(s.b, zero, 32);
    OK(process_harden(NULL));
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    assert_int_equal(getrlimit(RLIMIT_CORE, &limit), 0);
    assert_int_equal(limit.rlim_max, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_required_lock), cmocka_unit_test(test_heap),
                                        cmocka_unit_test(test_wipe_and_harden) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
