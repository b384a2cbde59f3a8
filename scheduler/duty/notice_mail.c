/* SPDX-License-Identifier: Apache-2.0 */
/* notice_mail.c - one mail of the outbox, and what a try that failed becomes. */
#include "scheduler/duty/notice_mail.h"
#include "audit/event.h"
#include "core/base/log.h"
#include "core/base/text_file.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"
#include "core/http/mail.h"
#include "core/table/config.h"
#include "tenants/notice/text.h"

enum { PASSWORD_MAX = 512 };

int64_t notice_pause_ms(int64_t tries, int64_t pause_ms)
{
    static const int64_t factors[] = { 1, 60, 360, 1440, 3600, 7200 };
    enum { STEPS = sizeof factors / sizeof *factors };
    const int64_t week_ms = INT64_C(604800000), f = factors[tries < 1 ? 0 : tries > STEPS ? STEPS - 1 : tries - 1];
    return pause_ms > week_ms / f ? week_ms : pause_ms * f;
}

/* Up to a fifth more or less, so that what failed together does not come back together. */
static int64_t jitter(int64_t ms)
{
    struct err e = { 0 };
    uint16_t n = 0;
    if (rand_bytes(&n, sizeof n, &e) != ERR_OK)
        return ms;
    return ms - ms / 5 + ms * 2 / 5 * n / UINT16_MAX;
}

struct notice_result notice_result_of(const struct app *app, struct uuid tenant, struct uuid delivery, struct uuid rule,
    int64_t tries)
{
    const bool is_last = tries >= app->config->notify_tries;
    return (struct notice_result){ .tenant_id = tenant, .delivery_id = delivery, .notification_id = rule,
        .state = str_c(is_last ? "DEAD" : "WAITING"), .reason = STR(""),
        .pause_ms = jitter(notice_pause_ms(tries, app->config->notify_pause_ms)) };
}

static bool is_unwanted(void *is_over)
{
    return atomic_load((const atomic_bool *)is_over);
}

static enum errc send_mail(const struct app *app, struct arena *a, const struct notice_claimed *d, const atomic_bool *is_over,
    struct err *e)
{
    const struct config *cfg = app->config;
    struct mail m = { .from = str_c(cfg->smtp_from), .to = d->address, .id = id_text(a, "ntd", d->delivery_id),
                      .language = str_eq_c(d->language, "ar") ? "ar" : "en", .at_us = clock_wall_us(app->clock) };
    struct mail_server to = { .url = cfg->smtp_url, .ca_file = *cfg->smtp_ca ? cfg->smtp_ca : NULL,
        .is_plain = cfg->smtp_encryption == 1, .is_unwanted = is_over ? is_unwanted : NULL,
        .ctx = (void *)(uintptr_t)is_over };
    char password[PASSWORD_MAX] = "";
    if (*cfg->smtp_user) {
        to.user = cfg->smtp_user;
        to.password = password;
        if (text_file_line(cfg->smtp_password_file, password, sizeof password, e) != ERR_OK)
            return FAIL(e, UNAVAILABLE, "The mail server's password cannot be read (smtp.password_file)");
    }
    notice_text_mail(a, d, cfg->api_public_url, &m.subject, &m.text);
    const enum errc rc = mail_send(a, &to, &m, e);
    secret_wipe(password, sizeof password);
    return rc;
}

struct notice_result notice_mail(const struct app *app, struct arena *a, const struct notice_claimed *d,
    const atomic_bool *is_over)
{
    struct notice_result r = notice_result_of(app, d->tenant_id, d->delivery_id, d->notification_id, d->tries);
    struct err e = { 0 };
    const char *never = !*app->config->smtp_url ? "No mail server is set up here (smtp.url)"
                      : !d->address.ptr ? "This member has no confirmed address, or is not active any more" : NULL;
    const enum errc rc = never ? ERR_UNPROCESSABLE : send_mail(app, a, d, is_over, &e);
    if (rc == ERR_OK)
        r.state = STR("DELIVERED");
    else if (never || rc == ERR_UPSTREAM || rc == ERR_INVALID)
        r.state = STR("DEAD");
    else if (is_over && atomic_load(is_over))
        r.state = STR("WAITING");       /* its last try was none */
    if (rc != ERR_OK)
        r.reason = str_fmt(a, "%s", never ? never : e.msg);
    if (rc != ERR_OK && !never)
        log_err(LOG_WARN, "notices.mail", &e);
    return r;
}

static enum errc note_dead(struct work *w, const struct notice_result *r, struct err *e)
{
    struct audit_event ev = audit_event_of(w, AUDIT_NOTICE_DEAD);
    ev.tenant_id = r->tenant_id;
    ev.resource_kind = STR("delivery");
    ev.resource_prefix = "ntd";
    ev.resource_id = r->delivery_id;
    ev.error = ERR_UPSTREAM;
    if (!uuid_is_nil(r->notification_id))
        audit_event_detail(&ev, AUDIT_D_STR("notification", id_text(w->arena, "ntf", r->notification_id)));
    audit_event_detail(&ev, AUDIT_D_INT("status", r->status));
    return audit_append(w, &ev, e);
}

enum errc notice_write(struct work *w, const struct notice_result *r, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq_c(r[i].state, "DEAD"))
            TRY(note_dead(w, &r[i], e));
    return notice_settle(w, r, n, e);
}
