/* SPDX-License-Identifier: Apache-2.0 */
/* test_keys_watch.c - a falaj-keyd that is away, and one that takes connections and answers nothing, are down, and whoever asks
 * is told so while the look is still under way. Sealed and open ones: tests/http/outage.test.ts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "api/keys_watch.h"
#include "keys/client.h"

enum { ANSWER_MS = 4000 };

static void one_that_hangs_and_one_that_is_away(void **state)
{
    (void)state;
    char dir[] = "/tmp/falaj-keys-watch-XXXXXX", zones[200];
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct keyd_client *client;
    struct err e;
    assert_non_null(mkdtemp(dir));
    snprintf(at.sun_path, sizeof at.sun_path, "%s/hangs", dir);
    int listens = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listens, 16), 0);
    snprintf(zones, sizeof zones, "hangs=%s/hangs,away=%s/away", dir, dir);
    assert_int_equal(keyd_client_new(str_c(zones), ANSWER_MS, &client, &e), ERR_OK);
    struct keys_watch *w = keys_watch_new(client);
    for (int i = 0; i < 3; i++) {           /* the first time there was no look yet */
        assert_int_equal(keys_watch_see(w, 0).state, KEYS_DOWN);
        assert_int_equal(keys_watch_see(w, 1).state, KEYS_DOWN);
        assert_string_equal(keys_watch_see(w, 0).reason, "");
    }
    keys_watch_free(w);
    keys_watch_free(NULL);
    keyd_client_free(client);
    close(listens);
    unlink(at.sun_path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_that_hangs_and_one_that_is_away) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
