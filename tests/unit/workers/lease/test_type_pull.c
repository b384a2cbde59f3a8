/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_pull.c - a pull in a real box of the real binary, over connections that the agent's side makes: a good image becomes
 * the job's archive, with credentials of a secret; what the row or the machine's operator does not allow is not even asked. */
#include "run_kit.h"
#include "tests/unit/workers/image/registry_kit.h"

static struct kit_registry r;

static int start(void **state)
{
    (void)state;
    kit_registry_start(&r);
    return 0;
}

static int end(void **state)
{
    (void)state;
    kit_registry_end(&r);
    return 0;
}

struct kind_of { const char *repo, *what, *reach, *pulls, *secret; bool is_shut; };

/* The lease as it is granted: the spec with what the row says. */
static const char *pull(struct fixture *f, const struct kind_of *k)
{
    struct err e = { 0 };
    struct buf spec = BUF(8192);
    setup_with(f, "256m", "x", 1);
    assert_int_equal(config_set(f->config, "worker.programs", "host", &e), ERR_OK);
    assert_int_equal(config_set(f->config, "worker.pulls", k->pulls ? k->pulls : "true", &e), ERR_OK);
    buf_printf(&spec, "{\"registry\":\"%s\",\"repository\":\"%s\",\"digest\":\"%.*s\",\"secrets\":[%s]", r.host, k->repo,
               STR_ARG(kit_digest(&r, k->what ? k->what : "manifest")), k->secret ? "\"hub@1\"" : "");
    if (!k->is_shut) {
        buf_printf(&spec, ",\"is_allowed\":true,\"hosts\":[\"169.254.169.254\"],\"reach\":\"%s\",\"max_bytes\":1000000,"
                   "\"silent_s\":60,\"ca_pem\":", k->reach ? k->reach : "local");
        buf_add_json(&spec, str_c(r.ca));
    }
    buf_add_char(&spec, '}');
    struct lease_grant g = kit_grant(1, "pull", arena_strndup(r.a, spec.ptr, spec.len));
    kit_add_input(&g, &f->store, "dataset");
    if (k->secret)
        kit_add_sealed(&g, &f->store, "secret:registry", "secret", STR("0123456789abcdef0123456789abcdef"), str_c(k->secret));
    buf_release(&spec);
    unlink(arena_printf(r.a, "%s/log", r.folder));
    return run_to_end(f, book_add(f->book, &g, true));
}

static void a_good_image_becomes_the_jobs_archive(void **state)
{
    (void)state;
    static const struct kind_of rows[] = { { .repo = "basic", .what = "index", .secret = "ann:secret" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        const char *report = pull(&f, &rows[i]);
        expect(report, "\"event\":\"succeed\"");
        expect(report, "\"digest\":\"sha256:");
        expect(report, "\"packages\":[\"base-files 12.4 amd64\"]");
        expect(report, "{\"name\":\"image\",\"object_id\":");
        assert_null(strstr(report, "ann:secret"));
        assert_true(f.store.ckpts[f.store.n_ckpts - 1].sealed.len > 300000);
        teardown(&f);
    }
}

static void what_is_not_allowed_is_not_asked(void **state)
{
    (void)state;
    static const struct { struct kind_of k; const char *says; } rows[] = {
        { { .repo = "open", .is_shut = true }, "lets no images come from localhost:" },
        { { .repo = "open", .pulls = "false" }, "its operator has not set worker.pulls; name a pool" },
        { { .repo = "open", .reach = "private" }, "which the zone's row does not let machines reach (reach private)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        const char *report = pull(&f, &rows[i].k);
        expect(report, "\"event\":\"fail\"");
        expect(report, rows[i].says);
        assert_string_equal(kit_log(&r), "");
        teardown(&f);
    }
}

static void a_lie_fails_the_job_and_leaves_nothing(void **state)
{
    (void)state;
    static const struct { struct kind_of k; const char *says; } rows[] = {
        { { .repo = "elsewhere" }, "sends to elsewhere.example, which the zone's row of the registry does not name" },
        { { .repo = "metadata" }, "which the zone's row does not let machines reach" },     /* the row names it: the agent says */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        const char *report = pull(&f, &rows[i].k);
        expect(report, "\"event\":\"fail\"");
        expect(report, rows[i].says);
        assert_int_equal(f.store.n_ckpts, 0);
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_good_image_becomes_the_jobs_archive),
        cmocka_unit_test(what_is_not_allowed_is_not_asked), cmocka_unit_test(a_lie_fails_the_job_and_leaves_nothing) };
    return cmocka_run_group_tests(tests, start, end);
}
