/* SPDX-License-Identifier: Apache-2.0 */
/* test_config_print.c - printed settings can be read again, and secrets are not printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/table/config.h"

static char text[1 << 17];

static FILE *open_text(void)
{
    memset(text, 0, sizeof text);
    return fmemopen(text, sizeof text - 1, "w");
}

static void present_values(void **state)
{
    (void)state;
    struct config *c = config_new_default(), *d = config_new_default();
    struct err e;
    assert_int_equal(config_set(c, "redis.password", "hunter2", &e), ERR_OK);
    assert_int_equal(config_set(c, "log.format", "json", &e), ERR_OK);
    FILE *f = open_text();
    config_print(c, f);
    fclose(f);
    assert_null(strstr(text, "hunter2"));
    assert_non_null(strstr(text, "redis.password = ***\n"));
    assert_non_null(strstr(text, "log.format = json\n"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *eq = strstr(line, " = ");
        assert_non_null(eq);
        *eq = '\0';
        assert_int_equal(config_set(d, line, eq + 3, &e), ERR_OK);
    }
    assert_int_equal(d->log_format, 1);
    config_free(c);
    config_free(d);
}

static void documents(void **state)
{
    (void)state;
    FILE *f = open_text();
    config_help(f);
    fclose(f);
    assert_non_null(strstr(text, "db.pool_size  (FALAJ_DB_POOL_SIZE)"));
    assert_non_null(strstr(text, "1 to 512"));
    f = open_text();
    config_print_markdown(f);
    fclose(f);
    assert_non_null(strstr(text, "| `log.level` | `FALAJ_LOG_LEVEL` | enum, reload | `info` | debug\\|info\\|warn\\|error |"));
    assert_non_null(strstr(text, "secret"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(present_values), cmocka_unit_test(documents) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
