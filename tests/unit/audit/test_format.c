/* SPDX-License-Identifier: Apache-2.0 */
/* test_format.c - golden rows of every format, hostile text in each, and every event code in all of them. */
#include "audit/format.h"
#include "audit/format_int.h"
#include "core/base/arena.h"
#include "core/json/jsonvalue.h"
#include "tests/unit/audit/fixture.h"

#define LEAF "0700000000000000000000000000000000000000000000000000000000000000"
static struct audit_format_run run;
static struct buf body, out;

static struct audit_event base(void)
{
    struct audit_event ev = { .zone = STR("ae-dxb-1"), .ts_us = 1700000000123456, .code = AUDIT_JOB_SUBMIT, .actor = AUDIT_USER,
        .roles = { STR("ml-engineer"), STR("viewer") }, .role_count = 2, .src_ip = STR("10.0.0.9"), .request_id = STR("req-7"),
        .resource_kind = STR("job"), .resource_prefix = "job", .rule = STR("role:ml-engineer"), .http_status = 201 };
    uuid_parse(STR("01890000-0000-7000-8000-000000000001"), &ev.event_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000aa"), &ev.tenant_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000bb"), &ev.actor_id);
    uuid_parse(STR("01890000-0000-7000-8000-0000000000dd"), &ev.resource_id);
    audit_event_detail(&ev, AUDIT_D_INT("gpus", 4));
    return ev;
}

/* What the format makes of one event; ev NULL: of a dropped entry. */
static const char *render(const char *name, const struct audit_event *ev, struct audit_format_opts opts)
{
    struct audit_entry e = { .tseq = 12, .leaf = { { 7 } } };
    buf_clear(&body);
    buf_clear(&out);
    if (ev) {
        assert_true(audit_event_encode(ev, &body));
        e.body = buf_str(&body);
    }
    assert_true(audit_format_begin(&run, audit_format_find(str_c(name)), &opts, &out));
    assert_true(audit_format_entry(&run, &e, &out));
    assert_true(audit_format_end(&run, &out));
    return out.ptr;
}
#define RENDER(name, ev) render(name, ev, (struct audit_format_opts){ .zone = STR("ae-dxb-1") })

static int setup(void **state)
{
    (void)state;
    body = BUF(AUDIT_BODY_MAX);
    out = BUF(1 << 20);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    buf_release(&body);
    buf_release(&out);
    return 0;
}

static void golden_ocsf(void **state)
{
    (void)state;
    struct audit_event ev = base();
    assert_string_equal(RENDER("ocsf", &ev),
        "{\"class_uid\":6003,\"category_uid\":6,\"activity_id\":1,\"type_uid\":600301,\"severity_id\":1,\"activity_name\":\"submit\",\"status_id\":1,"
        "\"status_code\":\"success\",\"message\":\"A job was submitted\",\"time\":1700000000123,\"metadata\":{\"version\":\"1.3.0\",\"product\":"
        "{\"name\":\"Falaj\",\"vendor_name\":\"Falaj\",\"version\":\"" FALAJ_VERSION "\"},\"log_name\":\"audit\",\"sequence\":12,"
        "\"uid\":\"01890000-0000-7000-8000-000000000001\",\"event_code\":\"FLJ-JOB-001S\",\"tenant_uid\":\"01890000-0000-7000-8000-0000000000aa\","
        "\"labels\":[\"ae-dxb-1\"]},\"actor\":{\"user\":{\"type_id\":1,\"type\":\"User\",\"uid\":\"01890000-0000-7000-8000-0000000000bb\","
        "\"groups\":[{\"name\":\"ml-engineer\"},{\"name\":\"viewer\"}]},\"authorizations\":[{\"decision\":\"allow\",\"policy\":{\"name\":"
        "\"role:ml-engineer\"}}]},\"api\":{\"operation\":\"job.submit\"},\"src_endpoint\":{\"ip\":\"10.0.0.9\"},\"http_request\":{\"uid\":\"req-7\"},"
        "\"http_response\":{\"code\":201},\"resources\":[{\"type\":\"job\",\"uid\":\"job_018900000000700080000000000000dd\"}],"
        "\"unmapped\":{\"tseq\":12,\"leaf\":\"" LEAF "\",\"details\":{\"gpus\":4}}}\n");
}

static void golden_cef(void **state)
{
    (void)state;
    struct audit_event ev = base();
    assert_string_equal(RENDER("cef", &ev),
        "CEF:0|Falaj|Falaj|" FALAJ_VERSION "|FLJ-JOB-001S|A job was submitted|2|cn1Label=tseq cn1=12 cs1Label=leaf cs1=" LEAF " rt=1700000000123 "
        "externalId=01890000-0000-7000-8000-000000000001 act=job.submit outcome=success reason=success sourceServiceName=user "
        "suid=01890000-0000-7000-8000-0000000000bb spriv=ml-engineer,viewer src=10.0.0.9 cs2Label=tenant cs2=01890000-0000-7000-8000-0000000000aa "
        "cs3Label=zone cs3=ae-dxb-1 cs4Label=rule cs4=role:ml-engineer cs5Label=resource cs5=job/job_018900000000700080000000000000dd "
        "cs6Label=request cs6=req-7 cn2Label=httpStatus cn2=201 msg=gpus\\=4\n");
    ev.src_ip = STR("::1");
    ev.rule = STR("a=b\\c|d\ne\x01");
    ev.denied = true;
    const char *t = RENDER("cef", &ev);
    assert_non_null(strstr(t, " c6a2Label=Source IPv6 Address c6a2=::1 "));
    assert_non_null(strstr(t, " cs4=a\\=b\\\\c|d\\ne  cs5Label"));
    assert_non_null(strstr(t, "|FLJ-JOB-001D|A job was submitted|7|"));
}

static void golden_syslog(void **state)
{
    (void)state;
    struct audit_event ev = base();
    assert_string_equal(RENDER("syslog", &ev),
        "<110>1 2023-11-14T22:13:20.123456Z ae-dxb-1 falaj - FLJ-JOB-001S [falaj@32473 tseq=\"12\" leaf=\"" LEAF "\" "
        "eventId=\"01890000-0000-7000-8000-000000000001\" tenant=\"01890000-0000-7000-8000-0000000000aa\" action=\"job.submit\" verdict=\"success\" "
        "outcome=\"success\" actor=\"user\" actorId=\"01890000-0000-7000-8000-0000000000bb\" role=\"ml-engineer\" role=\"viewer\" srcIp=\"10.0.0.9\" "
        "requestId=\"req-7\" resourceKind=\"job\" resourceId=\"job_018900000000700080000000000000dd\" effect=\"allow\" rule=\"role:ml-engineer\" "
        "httpStatus=\"201\" details=\"gpus=4\"]\n");
    ev.rule = STR("a]b\"c\\d\ne");
    ev.zone = STR("a b\xd8\xaf");
    ev.error = ERR_CONFLICT;
    const char *t = RENDER("syslog", &ev);
    assert_non_null(strstr(t, " rule=\"a\\]b\\\"c\\\\d#012e\" "));
    assert_non_null(strstr(t, "<109>1 2023-11-14T22:13:20.123456Z a_b__ falaj - FLJ-JOB-001F ["));
    ev.ts_us = (INT64_C(1) << 53) - 1;
    ev.zone = STR("");
    ev.denied = true;
    assert_non_null(strstr(RENDER("syslog", &ev), "<108>1 2255-06-05T23:47:34.740991Z - falaj - FLJ-JOB-001D ["));
}

static void golden_csv(void **state)
{
    (void)state;
    struct audit_event ev = base();
    const char *t = RENDER("csv", &ev);
    assert_string_equal(strstr(t, "\r\n") + 2,
        "12,2023-11-14T22:13:20.123456Z,FLJ-JOB-001S,job.submit,success,success,user,01890000-0000-7000-8000-0000000000bb,\"ml-engineer viewer\",,"
        "10.0.0.9,req-7,job,job_018900000000700080000000000000dd,allow,role:ml-engineer,201,\"gpus=4\",01890000-0000-7000-8000-000000000001,"
        "01890000-0000-7000-8000-0000000000aa,ae-dxb-1," LEAF "\r\n");
    static const char *const formulas[] = { "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1" };
    for (size_t i = 0; i < 6; i++) {
        char want[64];
        ev.rule = str_c(formulas[i]);
        snprintf(want, sizeof want, ",allow,\"'%s\",201,", formulas[i]);
        assert_non_null(strstr(RENDER("csv", &ev), want));
    }
    ev.rule = STR("a b");
    assert_non_null(strstr(RENDER("csv", &ev), ",allow,a b,201,"));     /* a space needs no quotes, a control character does */
    ev.rule = STR("a\x1f");
    assert_non_null(strstr(RENDER("csv", &ev), ",allow,\"a\x1f\",201,"));
    ev.rule = STR("a,\"b\"\r\nc");
    ev.detail_count = 0;
    audit_event_detail(&ev, AUDIT_D_STR("=x", STR("1")));
    ev.roles[0] = STR("-r");
    t = render("csv", &ev, (struct audit_format_opts){ .has_bom = true });
    assert_true(strncmp(t, "\xef\xbb\xbftseq,", 8) == 0);
    assert_non_null(strstr(t, ",\"a,\"\"b\"\"\r\nc\",201,\"'=x=1\","));
    assert_non_null(strstr(t, ",\"'-r viewer\","));
}

static size_t count(const char *t, char c)
{
    size_t n = 0;
    for (; *t; t++)
        n += *t == c;
    return n;
}

static void a_dropped_entry_keeps_its_place_in_every_format(void **state)
{
    (void)state;
    for (const struct audit_format *f = audit_formats; f->name; f++) {
        const char *t = RENDER(f->name, NULL);
        assert_non_null(strstr(t, "12"));
        if (!str_starts(str_c(f->name), "summary"))
            assert_non_null(strstr(t, LEAF));
    }
    const char *t = strstr(RENDER("csv", NULL), "\r\n") + 2;
    assert_int_equal(count(t, ','), 21);
    assert_null(audit_format_find(STR("pdf")));
}

/* Every code, success, denial and failure: each format gives one row, OCSF a JSON object whose numbers agree with its class. */
static void every_code_maps(void **state)
{
    (void)state;
    for (int i = 0; i < AUDIT_CODE_COUNT * 3; i++) {
        struct audit_event ev = base();
        ev.code = (enum audit_code)(i / 3);
        ev.denied = i % 3 == 1;
        ev.error = i % 3 == 2 ? ERR_CONFLICT : ERR_OK;
        ev.token_id = ev.event_id;
        ev.src_ip = i % 2 ? STR_NULL : STR("sealed:1:01890000-0000-7000-8000-000000000001:AbC_-9");
        struct arena *a = arena_new(1 << 20);
        const struct jval *v;
        struct err e;
        RENDER("ocsf", &ev);
        assert_int_equal(jval_parse(a, str_n(out.ptr, out.len - 1), 0, &v, &e), ERR_OK);
        int64_t class = jval_i64(jval_get(v, "class_uid"), 0), activity = jval_i64(jval_get(v, "activity_id"), -1);
        assert_true(class == 6003 || class == 3001 || class == 3002);
        assert_true(activity == 99 || (activity >= 1 && activity <= (class == 3001 ? 8 : class == 3002 ? 2 : 4)));
        assert_int_equal(jval_i64(jval_get(v, "type_uid"), 0), class * 100 + activity);
        assert_int_equal(jval_i64(jval_get(v, "category_uid"), 0), class == 6003 ? 6 : 3);
        assert_int_equal(jval_i64(jval_get(jval_get(v, "unmapped"), "tseq"), 0), 12);
        assert_true(class == 6003 || jval_type(jval_get(v, "user")) == JT_OBJECT);
        assert_null(jval_get(jval_get(v, "src_endpoint"), "ip"));
        for (const struct audit_format *f = audit_formats; f->name; f++)
            assert_non_null(strstr(RENDER(f->name, &ev), audit_code_row(ev.code)->code));
        arena_free(a);
    }
    static const struct {
        const char *action;
        int class_uid, activity;
    } rows[] = { { "auth.login", 3002, 1 }, { "auth.logout", 3002, 2 }, { "user.create", 3001, 1 }, { "user.revoke", 3001, 5 },
        { "role_binding.create", 3001, 7 }, { "role_binding.revoke", 3001, 8 }, { "dataset.content.read", 6003, 2 }, { "key.destroy", 6003, 4 },
        { "policy.set", 6003, 3 }, { "audit.heartbeat", 6003, 99 }, { "authz.deny", 6003, 99 }, { "new.thing", 6003, 99 }, { "", 6003, 99 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct format_ocsf_class c = format_ocsf_classify(str_c(rows[i].action));
        assert_true(c.class_uid == rows[i].class_uid && c.activity == rows[i].activity);
    }
}

/* One row stays one line, whatever text stands in it; OCSF stays JSON. */
static void hostile_text_breaks_no_row(void **state)
{
    (void)state;
    struct audit_event ev = base();
    struct str evil = STR("\"]}\\|=,'<script>\n\r\t\x01\x7f`*_#&\xe2\x80\xa8");
    struct arena *a = arena_new(1 << 20);
    const struct jval *v;
    struct err e;
    ev.zone = ev.rule = ev.request_id = ev.resource_kind = ev.src_ip = ev.roles[0] = ev.resource_name = evil;
    ev.resource_id = UUID_NIL;
    ev.denied = true;
    audit_event_detail(&ev, AUDIT_D_STR("text", evil));
    assert_int_equal(count(RENDER("cef", &ev), '\n'), 1);
    assert_int_equal(count(RENDER("syslog", &ev), '\n'), 1);
    assert_int_equal(count(RENDER("ocsf", &ev), '\n'), 1);
    assert_int_equal(jval_parse(a, str_n(out.ptr, out.len - 1), 0, &v, &e), ERR_OK);
    assert_true(str_eq(jval_str(jval_get(jval_get(v, "http_request"), "uid")), evil));
    char longest[AUDIT_WORD_MAX + 1];
    memset(longest, 'z', AUDIT_WORD_MAX);
    longest[AUDIT_WORD_MAX] = 0;
    assert_non_null(strstr(render("summary", &ev, (struct audit_format_opts){ .zone = str_c(longest) }), longest));
    assert_null(strstr(render("summary-html", &ev, (struct audit_format_opts){ .zone = evil }), "<script>"));
    assert_null(strstr(render("summary", &ev, (struct audit_format_opts){ .zone = evil }), "<script>"));
    arena_free(a);
}

static void the_summary_says_what_was_counted(void **state)
{
    (void)state;
    struct key *k = key_make();
    struct log *l = log_make(uuid_v7(3), 200, 4);
    struct bundle_head ignored;
    struct audit_head head;
    struct audit_key key = { .key_id = "the-key" };
    struct verify_result verdict = { .count = 200, .pinned = true };
    struct audit_filter filter = { .action = "job." };
    struct audit_format_opts opts = { .tenant_id = l->tenant, .zone = STR("ae-dxb-1"), .filter = &filter, .head = &head, .keys = &key,
                                      .key_count = 1, .verdict = &verdict };
    log_head(l, 200, k, &ignored, &head);
    for (int html = 0; html < 2; html++) {
        buf_clear(&out);
        assert_true(audit_format_begin(&run, audit_format_find(html ? STR("summary-html") : STR("summary")), &opts, &out));
        for (size_t i = 0; i < l->n; i++) {
            struct audit_entry e = { i + 5, l->e[i].leaf, buf_str(&l->e[i].body) };
            assert_true(audit_format_entry(&run, &e, &out));
            assert_int_equal(out.len, 0);
        }
        for (uint64_t t = 500; t < 500 + AUDIT_DENIALS_SHOWN + 2; t++) {
            struct audit_event ev = base();
            struct buf b = BUF(AUDIT_BODY_MAX);
            ev.denied = true;
            audit_event_encode(&ev, &b);
            assert_true(audit_format_entry(&run, &(struct audit_entry){ t, { { 1 } }, buf_str(&b) }, &out));
            buf_release(&b);
        }
        assert_true(audit_format_end(&run, &out));
        assert_int_equal(run.tally.count, 232);
        assert_true(run.tally.verdicts[0] == 200 && run.tally.verdicts[1] == 32 && run.tally.from == 5 && run.tally.to == 531);
        assert_non_null(strstr(out.ptr, html ? "<p>These are the first 30 of 32.</p>\n" : "\nThese are the first 30 of 32.\n"));
        assert_non_null(strstr(out.ptr, html ? "<td>529</td>" : "| 529 |"));
        assert_null(strstr(out.ptr, html ? "<td>530</td>" : "| 530 |"));
        assert_non_null(strstr(out.ptr, html ? "<td>Filter: action</td><td>job.</td>" : "| Filter: action | job. |"));
        assert_non_null(strstr(out.ptr, "Whole: 200 entries, 0 without body, signed by a pinned key."));
        assert_non_null(strstr(out.ptr, "the-key"));
    }
    log_free(l);
    key_free(k);
}

static void what_is_not_canonical_is_refused(void **state)
{
    (void)state;
    struct audit_entry e = { .tseq = 1, .body = STR("{\"v\":2}") };
    assert_true(audit_format_begin(&run, audit_format_find(STR("cef")), &(struct audit_format_opts){ 0 }, &out));
    assert_false(audit_format_entry(&run, &e, &out));
    struct buf small = BUF(16);
    struct audit_event ev = base();
    buf_clear(&body);
    audit_event_encode(&ev, &body);
    e.body = buf_str(&body);
    for (const struct audit_format *f = audit_formats; f->name && !str_starts(str_c(f->name), "summary"); f++) {
        run.format = f;
        buf_clear(&small);
        assert_false(audit_format_entry(&run, &e, &small));
    }
    buf_release(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(golden_ocsf), cmocka_unit_test(golden_cef), cmocka_unit_test(golden_syslog),
        cmocka_unit_test(golden_csv), cmocka_unit_test(a_dropped_entry_keeps_its_place_in_every_format), cmocka_unit_test(every_code_maps),
        cmocka_unit_test(hostile_text_breaks_no_row), cmocka_unit_test(the_summary_says_what_was_counted),
        cmocka_unit_test(what_is_not_canonical_is_refused) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
