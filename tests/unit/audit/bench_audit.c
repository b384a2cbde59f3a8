/* SPDX-License-Identifier: Apache-2.0 */
/* bench_audit.c - events encoded and verified per second on one core. Numbers, no verdict. */
#include <time.h>
#include "tests/unit/audit/fixture.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What the sequencer does of an event beside its statements: reading it, its leaf, and the seals of its fields. */
static void number_events(const struct log *l)
{
    static struct audit_view view;
    struct merkle_hash plain;
    struct audit_fields f;
    double at[4];
    at[0] = cpu_s();
    for (size_t i = 0; i < l->n; i++)
        ASSERT(audit_record_read(buf_str(&l->e[i].body), &view));
    at[1] = cpu_s();
    for (size_t i = 0; i < l->n; i++)
        merkle_leaf(l->e[i].body.ptr, l->e[i].body.len, &plain);
    at[2] = cpu_s();
    ASSERT(audit_record_read(buf_str(&l->e[0].body), &view));
    for (size_t i = 0; i < l->n; i++)
        audit_fields_of(&view, &plain, &f);
    at[3] = cpu_s();
    printf("number: read %.2f, plain leaf %.2f, seals %.2f us of CPU an event\n", (at[1] - at[0]) / (double)l->n * 1e6,
           (at[2] - at[1]) / (double)l->n * 1e6, (at[3] - at[2]) / (double)l->n * 1e6);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 200000;
    uint32_t seed = 1;
    struct buf b;
    struct audit_event ev = { .event_id = uuid_v7(1), .zone = STR("ae-dxb-1"), .tenant_id = uuid_v7(2), .code = AUDIT_JOB_SUBMIT,
        .actor = AUDIT_USER, .actor_id = uuid_v7(1), .roles = { STR("ml-engineer") }, .role_count = 1, .src_ip = STR("10.1.2.3"),
        .request_id = STR("req-1"), .resource_kind = STR("job"), .resource_prefix = "job", .resource_id = uuid_v7(2),
        .rule = STR("role:ml-engineer"), .http_status = 201 };
    audit_event_detail(&ev, AUDIT_D_INT("gpus", 4));
    b = BUF(AUDIT_BODY_MAX);
    double t = now_s();
    for (size_t i = 0; i < n; i++) {
        buf_clear(&b);
        ev.ts_us = (int64_t)rnd(&seed);
        audit_event_encode(&ev, &b);
    }
    printf("encode: %.0f events/s of %zu bytes\n", (double)n / (now_s() - t), b.len);
    buf_release(&b);
    struct key *k = key_make();
    struct log *l = log_make(uuid_v7(2), n, 1);
    number_events(l);
    struct lines *s = lines_make(l, k, (struct make){ 0 });
    struct buf all = lines_join(s);
    t = now_s();
    struct verify_result r = verify_text(buf_str(&all), k, NULL);
    t = now_s() - t;
    printf("verify: %s, %.0f events/s, %.1f MB\n", verify_damage_text(r.damage), (double)n / t, (double)all.len / 1e6);
    buf_release(&all);
    lines_free(s);
    log_free(l);
    key_free(k);
    return r.damage != VERIFY_OK;
}
