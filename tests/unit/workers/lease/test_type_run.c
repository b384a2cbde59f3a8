/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_run.c - programs in real boxes: how they end, and how they are stopped. */
#include "run_kit.h"

#include <pthread.h>
#include "tests/lib/wait.h"

static void how_a_program_ends_is_how_the_job_ends(void **state)
{
    (void)state;
    static const struct { const char *script, *more, *event, *text; } rows[] = {
        { "echo 'no such column' >&2; exit 3", "", "\"event\":\"fail\",\"exit_code\":3",
            "the program ended with status 3: no such column" },
        { "kill -9 $$", "", "\"event\":\"fail\",\"exit_code\":137", "as by signal 9 (Killed)" },
        { "exit 0", ",\"outputs\":[\"model\"]", "\"event\":\"fail\"", "without its output model: there is no file model" },
        { "ln -s /etc/passwd /falaj/out/m", ",\"outputs\":[\"m\"]", "\"event\":\"fail\"", "m is no plain file" },
        { "mkfifo /falaj/out/m", ",\"outputs\":[\"m\"]", "\"event\":\"fail\"", "m is no plain file" },
        { "true", ",\"workdir\":\"/nowhere/at\"", "\"event\":\"fail\",\"exit_code\":127",
            "could not be started: bwrap: Can't chdir to /nowhere/at" },
        { "(sleep 60; echo late) & exit 0", "", "\"event\":\"succeed\"", "\"exit_code\":0" },
        { "exec >&- 2>&-; sleep 1; exit 5", "", "\"event\":\"fail\",\"exit_code\":5", "status 5" },
        { "exit 75", "", "\"event\":\"return\",\"exit_code\":75", "asked to be queued again" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        run_setup(&f, "x");
        const char *r = run_to_end(&f, run_add(&f, 1, rows[i].script, rows[i].more));
        expect(r, rows[i].event);
        expect(r, rows[i].text);
        teardown(&f);
    }
}

struct runner { struct fixture *f; struct held *h; };

static void *run_thread(void *p)
{
    struct runner *r = p;
    executor_run(&r->f->env, r->h);
    return NULL;
}

static int kept(const struct fixture *f)
{
    int n = 0;
    for (int i = 0; i < f->store.n_ckpts; i++)
        n += f->store.ckpts[i].is_kept;
    return n;
}

/* It keeps while it runs; told to stop it writes once more, and one that does not end is killed. */
static void told_to_stop(const char *on_term, const char *text)
{
    struct fixture f;
    char script[400];
    run_setup(&f, "x");
    snprintf(script, sizeof script, "trap '%s' TERM; cd /falaj/checkpoint; echo 1 > n; while :; do sleep 0.1; done", on_term);
    f.stopping = true;
    struct runner r = { &f, run_add(&f, 1, script, "") };
    pthread_t t;
    pthread_create(&t, NULL, run_thread, &r);
    WAIT_WHILE(!kept(&f));
    book_cancel_all(f.book);
    pthread_join(t, NULL);
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(f.book, &report);
    expect(report.ptr, "\"event\":\"return\"");
    expect(report.ptr, "told to stop: SIGTERM now, SIGKILL in 2 s");
    expect(report.ptr, text);
    assert_int_equal(kept(&f), 2);
    teardown(&f);
}

static void a_stop_is_a_signal_and_then_an_end(void **state)
{
    (void)state;
    told_to_stop("echo 2 > m; echo last words; exit 75", "\"text\":\"last words\"");
    told_to_stop("echo 2 > m; echo not I", "\"text\":\"not I\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_a_program_ends_is_how_the_job_ends), cmocka_unit_test(a_stop_is_a_signal_and_then_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
