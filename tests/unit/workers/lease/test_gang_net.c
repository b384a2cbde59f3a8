/* SPDX-License-Identifier: Apache-2.0 */
/* test_gang_net.c - names of the machines; a device that cannot be opened, and one that is no TUN, are what the machine lacks. */
#include "run_kit.h"
#include "tun_kit.h"
#include "workers/lease/box_try.h"
#include "workers/lease/gang_net.h"

static void ranks_have_names(void **state)
{
    (void)state;
    char text[GANG_NET_HOSTS];
    gang_net_hosts(1, 3, text);
    assert_string_equal(text, "127.0.0.1 localhost\n::1 localhost\n10.91.0.1 rank-0\n10.91.0.2 rank-1 falaj\n10.91.0.3 rank-2\n");
    gang_net_hosts(7, 8, text);
    assert_non_null(strstr(text, "10.91.0.8 rank-7 falaj\n"));
}

static void a_machine_says_what_it_lacks(void **state)
{
    (void)state;
    char device[64];
    tun_make(device);
    const uid_t uid = geteuid() ? 0 : 65534;
    assert_null(box_net_lacks(uid, uid, device));
    assert_string_equal(box_net_lacks(uid, uid, "/dev/null"), box_net_lacks(uid, uid, "/nowhere/tun"));
    chmod(device, 0600);
    if (uid)
        assert_non_null(box_net_lacks(uid, uid, device));
    tun_remove(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ranks_have_names), cmocka_unit_test(a_machine_says_what_it_lacks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
