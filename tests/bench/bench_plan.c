/* SPDX-License-Identifier: Apache-2.0 */
/* bench_plan.c - what quota rules and declared queues cost a plan: 3,000 jobs of one slot are placed on 50 machines, by one
 * tenant without rules, with a rule for each of three queues, and with as many queues as are named.
 *
 *     ninja bench_plan && bench_plan [RUNS [QUEUES]]
 *
 * The three are run in turns, RUNS times each (9); QUEUES (100) is the third's. Prints the least processor time of each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scheduler/plan/placement.h"

enum { JOBS = 3000, MACHINES = 50, KINDS = 3 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct str zone = { "z", 1 };

static struct snapshot cluster(struct arena *a, size_t queues)
{
    const size_t named = queues ? queues : 1;
    struct snapshot s = { .nodes = { ARENA_ARRAY(a, struct snap_node, MACHINES), MACHINES },
                          .tenants = { ARENA_ARRAY(a, struct snap_tenant, 1), 1 },
                          .jobs = { ARENA_ARRAY(a, struct snap_job, JOBS), JOBS } };
    struct str *names = ARENA_ARRAY(a, struct str, named);
    for (size_t i = 0; i < named; i++)
        names[i] = str_fmt(a, "q%zu", i);
    s.tenants.items[0] = (struct snap_tenant){ .allowed_zones = { &zone, 1 }, .slots_limit = JOBS, .gpus_limit = 8,
                                               .guarded = queues > 0, .slots_weight = 1000, .gpus_weight = 1000 };
    s.tenants.items[0].tenant_id.b[0] = 1;
    for (size_t i = 0; i < MACHINES; i++) {
        s.nodes.items[i] = (struct snap_node){ .zone = zone, .pool = STR("default"), .slots = 64, .free_slots = 64 };
        s.nodes.items[i].node_id.b[0] = (uint8_t)i;
    }
    for (size_t i = 0; i < JOBS; i++) {
        struct snap_job *j = &s.jobs.items[i];
        *j = (struct snap_job){ .tenant_id = s.tenants.items[0].tenant_id, .pool = STR("default"), .slots = 1, .gpu_milli = 1000,
                                .cls = STR("default"), .queue = names[i % named], .zones = { &zone, 1 },
                                .submitted_at = { (int64_t)i } };
        j->job_id.b[0] = (uint8_t)(i >> 8);
        j->job_id.b[1] = (uint8_t)i;
    }
    s.book.rules.items = ARENA_ARRAY(a, struct rule, queues + 1);
    s.book.rules.n = queues;
    for (size_t i = 0; i < queues; i++)
        s.book.rules.items[i] = (struct rule){
            .tenant_id = s.tenants.items[0].tenant_id, .place = RULE_QUEUE, .resource = RULE_SLOTS, .queue = names[i],
            .nominal = JOBS / (int64_t)queues + 1, .borrowing_limit = -1, .lending_limit = -1, .weight = 1000 };
    rulebook_link(&s.book, a);
    return s;
}

static double run(size_t queues, size_t *ret_placed)
{
    struct arena *a = arena_new((size_t)256 << 20);
    struct snapshot s = cluster(a, queues);
    struct plan p;
    const double began = now_ms();
    placement_plan(&s, a, &p);
    const double took = now_ms() - began;
    *ret_placed = p.places.n;
    arena_free(a);
    return took;
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 9;
    const size_t queues[KINDS] = { 0, 3, argc > 2 ? (size_t)atoi(argv[2]) : 100 };
    double least[KINDS] = { 0 };
    size_t placed[KINDS];
    for (int i = 0; i < runs; i++)
        for (int k = 0; k < KINDS; k++) {
            const double ms = run(queues[k], &placed[k]);
            least[k] = !i || ms < least[k] ? ms : least[k];
        }
    for (int k = 0; k < KINDS; k++)
        printf("%zu queues: %zu placed, %.3f ms\n", queues[k], placed[k], least[k]);
    return 0;
}
