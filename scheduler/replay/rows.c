/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - the members by name. What the planner fills in itself is not here: tests/unit/scheduler/replay/test_rows.c names
 * it. */
#include "scheduler/replay/rows.h"

/* Quantities: beyond these a sum of them could pass 63 bits. */
#define AMOUNT .min = -((int64_t)1 << 56), .max = (int64_t)1 << 56
#define COUNT .min = 0, .max = 1 << 30
enum { NODES_MAX = 1000000 };

#define SIZED(T, bytes)                                                                                                      \
    _Static_assert(sizeof(struct T) == (bytes), #T " has changed: give what a plan depends on its row below, then the new size")
SIZED(snap_node, 384);
SIZED(snap_tenant, 144);
SIZED(snap_job, 400);
SIZED(rule, 144);
SIZED(rule_queue, 80);
SIZED(claim, 304);
SIZED(start_booking, 5120);
SIZED(booked_seat, 304);
SIZED(snap_holder, 264);
SIZED(reserved, 64);

const char *const cycle_kind_names[] = { "quick", "deep", "explains", NULL };

#define C(m, ...) COLUMN(cycle_head, m, ##__VA_ARGS__)
static const struct column head_columns[] = { C(number), C(made_at_us), C(kind, .min = CYCLE_QUICK, .max = CYCLE_EXPLAINS),
        C(batch),
    C(revision), C(has_claims), C(has_bookings), C(has_reserved), C(now_us, AMOUNT), C(has_workload), C(version),
    C(arrivals, AMOUNT),
    C(next, AMOUNT), C(ndrawn, COUNT),
    C(epoch, .min = 0, .max = UINT32_MAX), C(random) };
#undef C
const struct table head_table = TABLE("cycle", cycle_head, head_columns);

#define C(m, ...) COLUMN(snap_node, m, ##__VA_ARGS__)
static const struct column node_columns[] = { C(node_id), C(zone), C(pool), C(flavor), C(slots, AMOUNT), C(gpus, AMOUNT),
    C(free_slots, AMOUNT), C(free_gpus, AMOUNT), C(cpu_milli, AMOUNT), C(memory_bytes, AMOUNT), C(used_cpu_milli, AMOUNT),
    C(used_memory_bytes, AMOUNT), C(gpu_model), C(gpu_shared), C(programs), C(gangs), C(gang_programs), C(engines), C(build),
    C(held), C(lent, AMOUNT), C(once) };
#undef C
const struct table node_table = TABLE("nodes", snap_node, node_columns);

#define C(m, ...) COLUMN(snap_tenant, m, ##__VA_ARGS__)
static const struct column tenant_columns[] = { C(tenant_id), COLUMN_AS(snap_tenant, allowed_zones.n, "zones", COUNT),
    C(slots_used, AMOUNT), C(slots_limit, AMOUNT), C(gpus_used, AMOUNT), C(gpus_limit, AMOUNT), C(guarded), C(slots_weight,
        AMOUNT),
    C(gpus_weight, AMOUNT) };
#undef C
const struct table tenant_table = TABLE("tenants", snap_tenant, tenant_columns);

static const struct column zone_columns[] = { COLUMN(zone_row, list, COUNT), COLUMN(zone_row, zone) };
const struct table zone_table = TABLE("zones", zone_row, zone_columns);

#define C(m, ...) COLUMN(snap_job, m, ##__VA_ARGS__)
static const struct column job_columns[] = { C(tenant_id), C(job_id), C(zone), C(pool), C(queue), C(project_id), C(kind),
    C(data_class), C(needs_programs), C(engine), C(denied), C(slots, AMOUNT), C(gpus, .min = 0, .max = INT32_MAX),
    C(priority, AMOUNT), C(cpu_milli, AMOUNT), C(memory_bytes, AMOUNT), C(gpu_milli, .min = 0, .max = INT32_MAX),
    C(nodes, .min = 0, .max = NODES_MAX), C(nodes_max, .min = 0, .max = NODES_MAX),
    C(max_runtime_s, .min = 0, .max = INT32_MAX), COLUMN_AS(snap_job, cls, "class"), C(class_value, AMOUNT), C(gpu_models),
    C(shape), C(depth, AMOUNT), C(is_cut),
    COLUMN_AS(snap_job, submitted_at.us, "submitted_at_us"), C(tenant, COUNT) };
#undef C
const struct table job_table = TABLE("jobs", snap_job, job_columns);

static const struct column job_zone_columns[] = { COLUMN(job_zone_row, list, COUNT) };
const struct table job_zone_table = TABLE("job_zones", job_zone_row, job_zone_columns);

#define C(m, ...) COLUMN(rule, m, ##__VA_ARGS__)
static const struct column rule_columns[] = { C(tenant_id), C(project_id), C(place, .min = RULE_TENANT, .max = RULE_QUEUE),
    C(resource, .min = RULE_SLOTS, .max = RULE_JOBS), C(queue), C(flavor), C(zone), C(nominal, AMOUNT), C(borrowing_limit,
        AMOUNT),
    C(lending_limit, AMOUNT), C(weight, AMOUNT), C(used, AMOUNT) };
#undef C
const struct table rule_table = TABLE("rules", rule, rule_columns);

#define C(m, ...) COLUMN(rule_queue, m, ##__VA_ARGS__)
static const struct column queue_columns[] = { C(tenant_id), C(project_id), C(name),
    C(mode, .min = QUEUE_STRICT_FIFO, .max = QUEUE_BEST_EFFORT_FIFO), C(stop_policy, .min = QUEUE_GOES,
        .max = QUEUE_HOLD_AND_DRAIN),
    C(within_cluster_queue, .min = WITHIN_NEVER, .max = WITHIN_LOWER_OR_NEWER_EQUAL_PRIORITY),
    C(reclaim_within_cohort, .min = RECLAIM_NEVER, .max = RECLAIM_ANY), C(slot_usage, AMOUNT), C(gpu_usage, AMOUNT) };
#undef C
const struct table queue_table = TABLE("queues", rule_queue, queue_columns);

#define C(m, ...) COLUMN(reserved, m, ##__VA_ARGS__)
static const struct column reserved_columns[] = { C(node_id), C(tenant_id), C(project_id), C(from_us, AMOUNT),
    C(until_us, AMOUNT) };
#undef C
const struct table reserved_table = TABLE("reserved", reserved, reserved_columns);

#define ASK(T, m)                                                                                                            \
    COLUMN_AS(T, m.cpu_milli, "cpu_milli"), COLUMN_AS(T, m.memory_bytes, "memory_bytes"), COLUMN_AS(T, m.gpus, "gpus"),      \
        COLUMN_AS(T, m.gpu_milli, "gpu_milli"), COLUMN_AS(T, m.slots, "slots"), COLUMN_AS(T, m.groups.w[0], "groups_0"),     \
        COLUMN_AS(T, m.groups.w[1], "groups_1"), COLUMN_AS(T, m.groups.w[2], "groups_2"), COLUMN_AS(T, m.groups.w[3], "groups_3")
_Static_assert(sizeof(struct groups) == 4 * sizeof(uint64_t), "the words of a set of groups are columns");

#define C(m, ...) COLUMN_AS(claim_row, c.m, #m, ##__VA_ARGS__)
static const struct column claim_columns[] = { C(tenant_id), C(job_id), C(node_id), C(project_id), C(is_guarded), C(until_us),
    COLUMN(claim_row, queue), ASK(claim_row, c.ask) };
#undef C
const struct table claim_table = TABLE("claims", claim_row, claim_columns);

#define C(m, ...) COLUMN_AS(booking_row, b.m, #m, ##__VA_ARGS__)
static const struct column booking_columns[] = { C(tenant_id), C(job_id), C(project_id), C(is_guarded), C(class_value, AMOUNT),
    C(start_us, AMOUNT), C(until_us, AMOUNT), C(comes_slots, AMOUNT), C(comes_gpus, AMOUNT), C(is_exact),
    COLUMN(booking_row, queue), COLUMN(booking_row, n, .min = 1, .max = BOOKING_SEATS_MAX), ASK(booking_row, b.ask) };
#undef C
const struct table booking_table = TABLE("bookings", booking_row, booking_columns);

#define C(m, ...) COLUMN_AS(booked_seat_row, seat.m, #m, ##__VA_ARGS__)
static const struct column booked_seat_columns[] = { C(node_id), C(devices), C(comes.slots, AMOUNT), C(comes.cpu_milli, AMOUNT),
    C(comes.memory_bytes, AMOUNT) };
#undef C
const struct table booked_seat_table = TABLE("booked_seats", booked_seat_row, booked_seat_columns);

static const struct column ask_columns[] = { ASK(ask_row, ask), COLUMN(ask_row, arrivals, AMOUNT), COLUMN(ask_row, drawn,
        AMOUNT) };
const struct table ask_table = TABLE("asks", ask_row, ask_columns);

static const struct column future_columns[] = { COLUMN(future_row, type, .min = 0, .max = UINT16_MAX) };
const struct table future_table = TABLE("futures", future_row, future_columns);

static const struct column moment_columns[] = { COLUMN(moment_row, now_us, AMOUNT) };
const struct table moment_table = TABLE("moment", moment_row, moment_columns);

#define C(m, ...) COLUMN(snap_holder, m, ##__VA_ARGS__)
static const struct column holder_columns[] = { C(tenant_id), C(job_id), C(attempt_id), C(node_id), C(fence), C(slots, AMOUNT),
    C(gpus, .min = 0, .max = INT32_MAX), C(cpu_milli, AMOUNT), C(memory_bytes, AMOUNT), C(gpu_milli, .min = 0, .max = INT32_MAX),
    C(devices), C(class_value, AMOUNT), C(priority, AMOUNT), C(grace_s, AMOUNT), C(min_runtime_s, .min = 0, .max = INT32_MAX),
    C(ran_ms, AMOUNT), C(lost_ms, AMOUNT), C(preempted, AMOUNT), C(is_leaving), C(leaves_for), C(project_id), C(queue),
    COLUMN_AS(snap_holder, submitted_at.us, "submitted_at_us"), C(rank, .min = 0, .max = NODES_MAX), C(all_slots, AMOUNT),
    C(all_gpus, .min = 0, .max = INT32_MAX) };
#undef C
const struct table holder_table = TABLE("holders", snap_holder, holder_columns);

static const struct column outcome_columns[] = { COLUMN(outcome_row, is_cut) };
const struct table outcome_table = TABLE("outcome", outcome_row, outcome_columns);
static const struct column place_columns[] = { COLUMN(place_row, job_id), COLUMN(place_row, node_id), COLUMN(place_row, devices),
    COLUMN(place_row, more, .min = 0, .max = NODES_MAX) };
const struct table place_table = TABLE("places", place_row, place_columns);
static const struct column seat_columns[] = { COLUMN(seat_row, node_id), COLUMN(seat_row, devices) };
const struct table seat_table = TABLE("seats", seat_row, seat_columns);
static const struct column wait_columns[] = { COLUMN(wait_row, job_id), COLUMN(wait_row, reason), COLUMN(wait_row, message),
    COLUMN(wait_row, is_denied) };
const struct table wait_table = TABLE("waits", wait_row, wait_columns);
static const struct column eviction_columns[] = { COLUMN(eviction_row, job_id), COLUMN(eviction_row, attempt_id) };
const struct table eviction_table = TABLE("evictions", eviction_row, eviction_columns);
static const struct column making_columns[] = { COLUMN(making_row, job_id) };
const struct table making_table = TABLE("making_room", making_row, making_columns);
