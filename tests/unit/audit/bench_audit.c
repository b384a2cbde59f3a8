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
