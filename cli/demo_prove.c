/* SPDX-License-Identifier: Apache-2.0 */
/* demo_prove.c - steps 5 and 6: what another tenant sees, what residency does, and an audit log that shows damage. */
#include <fcntl.h>
#include <unistd.h>
#include "cli/bundle_check.h"
#include "cli/demo.h"
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"

enum { REASON_S = 10, SEQUENCE_S = 15 };

static int must_be_hidden(struct demo *m, const char *what, const char *method, const char *path, const char *body)
{
    struct api_reply r;
    int rc = demo_try(m, m->stranger, method, path, body, &r);
    if (rc != CLI_OK)
        return rc;
    if (r.status != 404)
        return cli_fail(m->c, CLI_FAILED, "this is a breach of isolation", "%s asked for the %s of %s and got %d, not 404", m->stranger_tenant, what, m->tenant, r.status);
    demo_line(m, "404      %s asks for %s's %s", m->stranger_tenant, m->tenant, what);
    return CLI_OK;
}

static int strangers(struct demo *m)
{
    struct arena *a = m->c->arena;
    int rc = must_be_hidden(m, "job", "GET", arena_printf(a, "/v1/jobs/%s", m->job_id), NULL);
    if (rc == CLI_OK)
        rc = must_be_hidden(m, "data set", "GET", arena_printf(a, "/v1/datasets/%s", m->dataset_id), NULL);
    if (rc == CLI_OK)
        rc = must_be_hidden(m, "data", "GET", arena_printf(a, "/v1/datasets/%s/versions/%lld/content", m->dataset_id, (long long)m->dataset_version), NULL);
    if (rc == CLI_OK && m->model_id)
        rc = must_be_hidden(m, "model", "GET", arena_printf(a, "/v1/models/%s", m->model_id), NULL);
    if (rc == CLI_OK)
        rc = must_be_hidden(m, "inference", "POST", "/v2/models/digits/infer", "{\"inputs\":[{\"name\":\"input\",\"shape\":[1,1],\"datatype\":\"FP32\",\"data\":[0]}]}");
    return rc;
}

/* A job for a zone that the tenant may use but where no machine stands: it waits and says why. */
static int far_job(struct demo *m)
{
    struct api_reply r;
    const char *body = arena_printf(m->c->arena, "{\"name\":\"far\",\"kind\":\"noop\",\"spec\":{},\"zone\":\"%s\"}", m->far_zone);
    int rc = demo_call(m, m->engineer, "POST", "/v1/jobs", body, 201, &r);
    if (rc != CLI_OK)
        return rc;
    const char *path = arena_printf(m->c->arena, "/v1/jobs/%s", demo_text(m, &r, "job_id")), *reason = "", *state = "";
    double start_s = demo_now_s();
    while (demo_now_s() - start_s < REASON_S && (!*reason || strcmp(reason, "NONE") == 0)) {
        demo_sleep_ms(100);
        rc = demo_call(m, m->engineer, "GET", path, NULL, 200, &r);
        if (rc != CLI_OK)
            return rc;
        reason = demo_text(m, &r, "reason");
        state = demo_text(m, &r, "state");
        if (demo_now_s() - start_s < 1.0 && strcmp(state, "PENDING") == 0)
            reason = "";            /* the scheduler looks at it first */
    }
    if (strcmp(state, "PENDING") != 0 || !*reason)
        return cli_fail(m->c, CLI_FAILED, NULL, "the job for %s is %s with reason '%s'; it should wait and say why", m->far_zone, state, reason);
    demo_line(m, "PENDING  a job for %s, where no machine stands: %s %s", m->far_zone, reason, demo_text(m, &r, "message"));
    struct api_reply cancelled;
    rc = demo_try(m, m->engineer, "POST", arena_printf(m->c->arena, "%s/cancel", path), NULL, &cancelled);
    if (rc == CLI_OK && (cancelled.status < 200 || cancelled.status >= 300))
        return api_tell(m->c, &cancelled);
    return rc;
}

int demo_isolation(struct demo *m)
{
    demo_title(m, 5, "Isolation and residency");
    int rc = strangers(m);
    return rc == CLI_OK ? far_job(m) : rc;
}

static bool write_bytes(void *ctx, const char *p, size_t n)
{
    return buf_add(ctx, p, n);
}

/* The zone's public key, from the API here; an auditor has it from elsewhere. */
static int get_keys(struct demo *m, struct bundle_keys *keys)
{
    struct err e = { 0 };
    struct api_reply r;
    int rc = demo_call(m, m->owner, "GET", "/v1/audit/keys", NULL, 200, &r);
    if (rc != CLI_OK)
        return rc;
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    for (size_t i = 0; i < jval_len(jval_get(r.json, "data")); i++) {
        buf_add_str(&b, jval_str(jval_get(jval_at(jval_get(r.json, "data"), i), "public_key")));
        buf_add_char(&b, '\n');
    }
    if (bundle_keys_parse(buf_str(&b), keys, &e) != ERR_OK)
        return cli_fail_err(m->c, &e, NULL);
    struct dev d = { .c = m->c, .arena = m->c->arena };
    const char *path = arena_printf(m->c->arena, "%s/audit-keys.txt", m->data);
    return files_write(&d, path, buf_str(&b), geteuid(), getegid(), &e) == ERR_OK ? CLI_OK : cli_fail_err(m->c, &e, NULL);
}

/* The log is sequenced and signed a moment after the fact: ask until the training job's entries are in. */
static int export_bundle(struct demo *m, struct buf *b)
{
    struct err e = { 0 };
    double start_s = demo_now_s();
    for (;;) {
        struct api_reply r;
        struct api_req q = { .method = "GET", .path = "/v1/audit/export", .accept = "application/jsonl", .token = m->owner, .on_data = write_bytes, .ctx = b };
        buf_clear(b);
        if (api_send(m->c, &q, &r, &e) != ERR_OK)
            return cli_fail_err(m->c, &e, NULL);
        if (r.status == 200 && b->len && strstr(b->ptr, m->job_id))
            return CLI_OK;
        if (demo_now_s() - start_s > SEQUENCE_S)
            return r.status == 200 ? cli_fail(m->c, CLI_FAILED, NULL, "the exported log does not name the training job") : api_tell(m->c, &r);
        demo_sleep_ms(200);
    }
}

static int check_copy(struct demo *m, const struct bundle_keys *keys, const char *path, struct str bytes, struct verify_result *ret)
{
    struct err e = { 0 };
    struct dev d = { .c = m->c, .arena = m->c->arena };
    if (files_write(&d, path, bytes, geteuid(), getegid(), &e) != ERR_OK || bundle_check(path, keys, NULL, ret, &e) != ERR_OK)
        return cli_fail_err(m->c, &e, NULL);
    return CLI_OK;
}

int demo_audit(struct demo *m)
{
    struct bundle_keys keys = { 0 };
    struct verify_result good = { 0 }, bad = { 0 };
    CLEANUP(buf_releasep) struct buf b = BUF(256 << 20);
    const char *path = arena_printf(m->c->arena, "%s/audit.jsonl", m->data), *damaged = arena_printf(m->c->arena, "%s/audit-damaged.jsonl", m->data);
    demo_title(m, 6, "The audit log: exported, verified offline, then damaged");
    int rc = get_keys(m, &keys);
    if (rc == CLI_OK)
        rc = export_bundle(m, &b);
    if (rc == CLI_OK)
        rc = check_copy(m, &keys, path, buf_str(&b), &good);
    if (rc != CLI_OK)
        return rc;
    if (good.damage != VERIFY_OK || !good.pinned)
        return cli_fail(m->c, CLI_VERIFY, path, "the exported log does not verify: %s", good.text);
    demo_line(m, "whole    %llu entries, signed by the key of zone %s: %s", (unsigned long long)good.count, good.head.zone, path);
    char *at = strstr(b.ptr, m->job_id);
    at += strlen(m->job_id) - 1;
    *at = *at == '0' ? '1' : '0';
    rc = check_copy(m, &keys, damaged, buf_str(&b), &bad);
    if (rc != CLI_OK)
        return rc;
    if (bad.damage == VERIFY_OK || bad.tseq == 0)
        return cli_fail(m->c, CLI_VERIFY, NULL, "one changed byte went unnoticed, or the entry was not named");
    demo_line(m, "damaged  one byte flipped in a copy: entry %llu, %s (%s)", (unsigned long long)bad.tseq, verify_damage_text(bad.damage), bad.text);
    demo_line(m, "try it   falaj audit verify %s --key %s/audit-keys.txt", damaged, m->data);
    return CLI_OK;
}
