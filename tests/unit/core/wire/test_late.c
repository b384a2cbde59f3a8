/* SPDX-License-Identifier: Apache-2.0 */
/* test_late.c - a machine of the release before takes every job that does not use what is new: members that it does not know are
 * left out of a spec that does not set them. What it knows stands in deploy/previous-members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/table/schema.h"
#include "core/wire/job_type.h"

enum { LINE = 8192 };

/* The members that machines of before know of this kind, each between blanks; false: they do not know the kind. */
static bool known_of(const char *kind, char line[LINE])
{
    FILE *f = fopen("deploy/previous-members", "r");
    bool is_found = false;
    assert_non_null(f);
    while (!is_found && fgets(line, LINE, f)) {
        size_t n = strlen(kind);
        is_found = strncmp(line, kind, n) == 0 && line[n] == ':';
    }
    fclose(f);
    if (is_found)
        line[strcspn(line, "\n")] = ' ';
    return is_found;
}

static bool is_left_out(const struct field *f)
{
    return f->flags & (F_LATE | F_NOEMPTY | F_NOOUT) || f->has || !f->dflt;
}

static void new_members_are_left_out(void **state)
{
    (void)state;
    char line[LINE], word[128];
    int kinds = 0, news = 0;
    for (int i = 0; i < JOB_KIND_COUNT; i++) {
        const struct job_type *t = &job_types[i];
        if (!known_of(t->name, line))
            continue;                   /* no machine of before is asked for it */
        kinds++;
        for (size_t k = 0; k < t->spec->nfields; k++) {
            const struct field *f = &t->spec->fields[k];
            snprintf(word, sizeof word, " %s ", f->name);
            if (strstr(line, word)) {
                if (f->flags & F_LATE)
                    fail_msg("%s of a %s job is known to machines of the release before: F_LATE may go", f->name, t->name);
                continue;
            }
            news++;
            if (!is_left_out(f))
                fail_msg("%s of a %s job is new: machines of the release before would refuse it. Give it F_LATE "
                         "(docs/howto/upgrade.md)", f->name, t->name);
        }
    }
    assert_true(kinds >= 5);
    printf("%d kinds, %d new members\n", kinds, news);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(new_members_are_left_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
