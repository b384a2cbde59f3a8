/* SPDX-License-Identifier: Apache-2.0 */
/* bench_queue.c - jobs per second through submit, plan, take and report, one batch after the other, each step committed. Numbers, no
 * verdict; the cluster of the harness does not fsync. The first tenth of the rounds warms up and is followed by ANALYZE, as autovacuum does
 * it within a minute: plans made on empty tables are poor ones. Usage: bench_queue [batch [rounds]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/db/scheduler/fixture.h"

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

int main(int argc, char **argv)
{
    struct fixture f;
    struct machine m;
    int64_t batch = argc > 1 ? strtol(argv[1], NULL, 10) : 64, rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 50;
    int64_t t[5] = { 0 };
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "bench", 4096, 0);
    struct lease_grant *g = calloc((size_t)batch, sizeof *g);
    for (int64_t i = 0; i < rounds; i++) {
        if (i == rounds / 10) {
            fixture_exec(&f, "ANALYZE");
            memset(t, 0, sizeof t);
        }
        int64_t a = now_us();
        submit(&f, f.tenant_a, (size_t)batch, 1, 3, NULL);
        int64_t b = now_us();
        int64_t k = plan(&f);
        int64_t c = now_us();
        size_t n = take(&f, &m, batch, g);
        int64_t d = now_us();
        size_t ok = run_through(&f, &m, g, n);
        int64_t z = now_us();
        if (k != batch || n != (size_t)batch || ok != 2 * n)
            printf("round %ld: %ld admitted, %zu taken, %zu ok\n", (long)i, (long)k, n, ok);
        t[0] += b - a;
        t[1] += c - b;
        t[2] += d - c;
        t[3] += z - d;
    }
    rounds -= rounds / 10;
    t[4] = t[0] + t[1] + t[2] + t[3];
    printf("batch %ld: submit %ld, plan %ld, take %ld, report %ld us per batch; %.0f jobs/s in all, %.0f jobs/s without submit\n", (long)batch,
           (long)(t[0] / rounds), (long)(t[1] / rounds), (long)(t[2] / rounds), (long)(t[3] / rounds), 1e6 * (double)(batch * rounds) / (double)t[4],
           1e6 * (double)(batch * rounds) / (double)(t[4] - t[0]));
    fixture_check(&f);
    free(g);
    fixture_close(&f);
    return 0;
}
