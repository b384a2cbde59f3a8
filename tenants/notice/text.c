/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - what is told stands in two tables: the details that may leave, and the pages of the console. */
#include "tenants/notice/text.h"
#include "core/base/clock.h"
#include "core/json/jsonvalue.h"
#include "tenants/notice/event.h"

#include <time.h>

enum { BODY_MAX = 8192, DETAIL_MAX = 2048, DEPTH_MAX = 4 };

/* Words and numbers of events that say nothing of a person and no content. In the order of canonical JSON. */
static const struct { const char *name, *en, *ar; } told[] = {
    { "act", "Act", "الإجراء" }, { "after_minutes", "Not used, minutes", "بلا استخدام بالدقائق" },
    { "deadline", "Due", "الموعد النهائي" }, { "kind", "Kind", "النوع" }, { "key_version",
        "Key version", "إصدار المفتاح" },
    { "measure", "Measure", "المقياس" }, { "missing", "Missing", "المفقود" },
    { "notice_minutes", "Put aside in minutes", "التنحية بعد دقائق" },
    { "percent", "Used, percent", "المستخدم بالمئة" },
    { "reason", "Reason", "السبب" }, { "state", "State", "الحالة" }, { "step", "Step", "الخطوة" },
    { "threshold", "Threshold, percent", "الحد بالمئة" }, { "waited_minutes", "Waited, minutes", "الانتظار بالدقائق" } };
enum { TOLD = sizeof told / sizeof *told };

/* A clock's page is the register. */
static const struct { const char *kind, *path; bool is_list; } pages[] = {
    { "job", "jobs", false }, { "deployment", "deployments", false }, { "approval", "approvals", false },
    { "clock", "audit/legal-clocks", true } };

static struct str page_of(struct arena *a, const struct notice_claimed *d, const char *base)
{
    for (size_t i = 0; *base && d->resource_id.len && i < sizeof pages / sizeof *pages; i++)
        if (str_eq_c(d->resource_kind, pages[i].kind))
            return str_fmt(a, "%s/%s%s%.*s", base, pages[i].path, pages[i].is_list ? "" : "/",
                           STR_ARG(pages[i].is_list ? STR_NULL : d->resource_id));
    return *base ? str_c(base) : STR_NULL;
}

enum errc notice_text_detail(struct arena *a, struct json details, struct str *ret, struct err *e)
{
    struct buf b = BUF(DETAIL_MAX);
    const struct jval *v;
    *ret = STR("{}");
    if (!details.text.len)
        return ERR_OK;
    TRY(jval_parse(a, details.text, DEPTH_MAX, &v, e));
    buf_add_char(&b, '{');
    for (size_t i = 0; i < TOLD; i++) {
        const struct jval *m = jval_get(v, told[i].name);
        const struct str s = jval_str(m);
        if (!m || (!s.ptr && jval_i64(m, INT64_MIN) == INT64_MIN))
            continue;
        buf_printf(&b, "%s\"%s\":", b.len > 1 ? "," : "", told[i].name);
        if (s.ptr)
            buf_add_json(&b, s);
        else
            buf_add_i64(&b, jval_i64(m, 0));
    }
    buf_add_char(&b, '}');
    *ret = b.overflow ? STR("{}") : str_dup(a, buf_str(&b));
    buf_release(&b);
    return ERR_OK;
}

static void add_member(struct buf *b, const char *name, struct str value)
{
    if (!value.len)
        return;
    buf_printf(b, ",\"%s\":", name);
    buf_add_json(b, value);
}

enum errc notice_text_webhook(struct arena *a, const struct notice_claimed *d, const char *base, struct str *ret, struct err *e)
{
    struct buf b = BUF(BODY_MAX);
    char at[TIME_TEXT];
    struct str detail;
    TRY(notice_text_detail(a, d->detail, &detail, e));
    time_text(d->at.us, at);
    buf_printf(&b, "{\"data\":{\"detail\":%.*s", STR_ARG(detail));
    add_member(&b, "name", d->name);
    if (!uuid_is_nil(d->project_id))
        add_member(&b, "project_id", id_text(a, "prj", d->project_id));
    add_member(&b, "resource_id", d->resource_id);
    add_member(&b, "resource_kind", d->resource_kind);
    add_member(&b, "tenant_id", uuid_is_nil(d->tenant_id) ? STR_NULL : id_text(a, "tnt", d->tenant_id));
    add_member(&b, "url", page_of(a, d, base));
    buf_printf(&b, "},\"event\":\"%.*s\",\"id\":\"%.*s\",\"timestamp\":\"%s\",\"version\":1}", STR_ARG(d->event),
               STR_ARG(id_text(a, "ntd", d->delivery_id)), at);
    *ret = str_dup(a, buf_str(&b));
    const bool is_whole = !b.overflow;
    buf_release(&b);
    return is_whole ? ERR_OK : FAIL(e, LIMIT, "The message is longer than %d bytes", BODY_MAX);
}

struct words { const char *product, *code, *code_is, *code_text, *test, *test_text, *what, *when, *foot; };
static const struct words english = { "Falaj", "Confirm this address",
    "Your code is", "Type it in Falaj within an hour, and mails come to this address. If you did not ask for it, do nothing.\n",
    "Test", "This is a test. The notification works.\n", "What", "When",
    "You get this mail because you, or an administrator of your organisation, chose it in Falaj under Notifications." };
static const struct words arabic = { "فلج", "تأكيد هذا العنوان",
    "الرمز:", "أدخل الرمز في فلج خلال ساعة لتصل الرسائل إلى هذا العنوان. إن لم تطلبه فلا يلزم أي إجراء.\n",
    "اختبار", "هذه رسالة اختبار. الإشعار يعمل.\n", "العنصر", "الوقت",
    "تصلك هذه الرسالة لأنك اخترتها، أو اختارها مسؤول في مؤسستك، في صفحة الإشعارات في فلج." };

static void add_details(struct arena *a, struct buf *b, const struct notice_claimed *d, bool is_ar)
{
    struct err e = { 0 };
    const struct jval *v;
    if (!d->detail.text.len || jval_parse(a, d->detail.text, DEPTH_MAX, &v, &e) != ERR_OK)
        return;
    for (size_t i = 0; i < TOLD; i++) {
        const struct jval *m = jval_get(v, told[i].name);
        const struct str s = jval_str(m);
        const char *word = is_ar ? told[i].ar : told[i].en;
        if (s.ptr)
            buf_printf(b, "%s: %.*s\n", word, STR_ARG(s));
        else if (m)
            buf_printf(b, "%s: %lld\n", word, (long long)jval_i64(m, 0));
    }
}

/* A code is in a mail that tells nothing else. */
static struct str code_of(struct arena *a, const struct notice_claimed *d)
{
    struct err e = { 0 };
    const struct jval *v;
    return d->detail.text.len && jval_parse(a, d->detail.text, DEPTH_MAX, &v, &e) == ERR_OK ? jval_str(jval_get(v,
        "code")) : STR("");
}

void notice_text_mail(struct arena *a, const struct notice_claimed *d, const char *base, struct str *ret_subject,
    struct str *ret_text)
{
    const bool is_ar = str_eq_c(d->language, "ar");
    const struct words *w = is_ar ? &arabic : &english;
    const int ev = notice_event_by_wire(d->event);
    const struct str thing = d->name.len ? d->name : d->resource_id, page = page_of(a, d, base);
    struct buf b = BUF(BODY_MAX);
    char at[TIME_TEXT];
    if (str_eq_c(d->event, NOTICE_CODE)) {
        *ret_subject = str_fmt(a, "[%s] %s", w->product, w->code);
        *ret_text = str_fmt(a, "%s %.*s\n\n%s", w->code_is, STR_ARG(code_of(a, d)), w->code_text);
        return;
    }
    const struct str head = ev < 0 ? str_c(w->test) : str_c(is_ar ? notice_event_row((enum notice_event)ev)->ar
                                                                   : notice_event_row((enum notice_event)ev)->en);
    *ret_subject = thing.len ? str_fmt(a, "[%s] %.*s: %.*s", w->product, STR_ARG(head), STR_ARG(thing))
                             : str_fmt(a, "[%s] %.*s", w->product, STR_ARG(head));
    time_text(d->at.us, at);
    if (ev < 0)
        buf_add_c(&b, w->test_text);
    else
        buf_printf(&b, "%.*s\n\n", STR_ARG(head));
    if (thing.len)
        buf_printf(&b, "%s: %.*s%s%.*s%s\n", w->what, STR_ARG(thing), d->name.len ? " (" : "",
            STR_ARG(d->name.len ? d->resource_id : STR_NULL),
                   d->name.len ? ")" : "");
    buf_printf(&b, "%s: %.16s UTC\n", w->when, at);
    add_details(a, &b, d, is_ar);
    if (page.len)
        buf_printf(&b, "\n%.*s\n", STR_ARG(page));
    buf_printf(&b, "\n--\n%s\n", w->foot);
    *ret_text = str_dup(a, buf_str(&b));
    buf_release(&b);
}
