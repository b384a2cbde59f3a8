/* SPDX-License-Identifier: Apache-2.0 */
/* system_health.c - the whole platform at one look, for its staff: each part asked now, by this process.
 *
 * What could not be asked is not in the answer: without PostgreSQL nothing is said of the queue. Nothing here waits for Redis, and a zone's
 * falaj-keyd that does not answer costs its time limit. */
#include "api/pipeline.h"
#include "api/redis_probe.h"
#include "core/base/cleanup.h"
#include "core/db/pool.h"
#include "core/db/run_tx.h"
#include "keys/client.h"
#include "scheduler/round.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { REDIS_WAIT_MS = 300, OWN_MAX = 8, FACTS_MAX = 8 };
/* From when on a part that goes by itself is late, and from when on it stands still. */
enum { ROUND_LATE_MS = 10000, ROUND_DEAD_MS = 60000, SEAL_LATE_MS = 30000, SEAL_DEAD_MS = 300000, REPLAY_LATE_MS = 30000 };
static const char *const states[] = { "ok", "degraded", "down", NULL };
enum state { OK_STATE, DEGRADED, DOWN };

struct fact { struct str name; int64_t value; };
SCHEMA_OF(fact, "A number", FIELD(fact, name, F_ALWAYS, .doc = "Of what"), FIELD(fact, value, 0, .doc = "How much"));
struct component { struct str name, zone, detail, version; int state; bool has_latency_ms; double latency_ms; struct slice facts; };
SCHEMA_OF(component, "A part of the platform", FIELD(component, name, F_ALWAYS,
      .doc = "postgresql, redis, keys, scheduler, audit, queue, workers or replication"),
    FIELD(component, zone, 0, .doc = "Of keys: whose"), FIELD_ENUM(component, state, 0, states, .doc = "ok; degraded: works, but late or in part; down"),
    FIELD(component, detail, 0, .doc = "In words"), FIELD(component, version, 0, .doc = "Where it tells one"),
    FIELD_OPT(component, latency_ms, 0, .doc = "How long one question took; absent: none was asked or none answered"),
    FIELD_LIST(component, facts, &fact_schema, 0, .max = FACTS_MAX, .doc = "The numbers that the words are about; queues are counted to 100001 at most"));
struct health_out { int state; struct str version; int64_t uptime_s; struct timestamp checked_at; struct slice components; };
SCHEMA_OF(health_out, "How the platform is", FIELD_ENUM(health_out, state, 0, states, .doc = "The worst of its parts; only without PostgreSQL is all of it down"),
    FIELD(health_out, version, F_ALWAYS, .doc = "Of the falaj-api that answered"),
    FIELD(health_out, uptime_s, 0, .doc = "Since that process began"),
    FIELD(health_out, checked_at, F_ALWAYS, .doc = "When"),
    FIELD_LIST(health_out, components, &component_schema, 0, .max = 128, .doc = "Its parts, each asked now"));

static double ms_since(const struct work *w, int64_t began_us)
{
    return (double)(clock_mono_us(w->app->clock) - began_us) / 1000.0;
}

static void add_fact(struct arena *a, struct component *c, const char *name, int64_t value)
{
    if (!c->facts.items)
        c->facts.items = ARENA_ARRAY(a, struct fact, FACTS_MAX);
    ((struct fact *)c->facts.items)[c->facts.n++] = (struct fact){ str_c(name), value };
}

static bool ask_postgresql(struct work *w, struct system_facts *f, struct component *c)
{
    struct err e = { 0 };
    int64_t began = clock_mono_us(w->app->clock);
    *c = (struct component){ .name = STR("postgresql"), .state = DOWN, .detail = STR("It does not answer") };
    if (db_pool_ping(w->app->pool, &e) != ERR_OK)
        return false;
    c->latency_ms = ms_since(w, began);
    c->has_latency_ms = true;
    c->state = DEGRADED;
    c->detail = STR("It answers, but not to questions about the platform");
    if (RUN_TX(w, w->app->pool, SCOPE_TENANT(UUID_NIL), TX_READ_ONLY, system_facts_read(w, f, &e), &e) != ERR_OK)
        return false;
    c->state = OK_STATE;
    c->detail = STR("It answers");
    c->version = f->server_version;
    return true;
}

static void ask_redis(struct work *w, struct component *c)
{
    int64_t took_us;
    *c = (struct component){ .name = STR("redis"), .state = DOWN, .detail = STR("It does not answer; wake-ups are slower, nothing is lost") };
    if (!w->app->redis || !redis_probe(w->app->redis, REDIS_WAIT_MS, &took_us))
        return;
    *c = (struct component){ .name = c->name, .state = OK_STATE, .detail = STR("It answers"), .has_latency_ms = true, .latency_ms = (double)took_us / 1000.0 };
}

static void ask_keys(struct work *w, const char *zone, struct component *c)
{
    struct keyd_health h;
    struct err e;
    int64_t began = clock_mono_us(w->app->clock);
    *c = (struct component){ .name = STR("keys"), .zone = str_c(zone), .state = DOWN, .detail = STR("The zone's falaj-keyd does not answer") };
    if (keyd_health(w->app->keyd, c->zone, &h, &e) != ERR_OK)
        return;
    c->latency_ms = ms_since(w, began);
    c->has_latency_ms = true;
    c->state = h.is_sealed ? DOWN : OK_STATE;
    c->detail = h.is_sealed ? str_fmt(w->arena, "Sealed: %s", h.reason)
                            : str_fmt(w->arena, "Open; keys in %s (%s)", h.is_hardware ? "hardware" : "software", h.provider);
    add_fact(w->arena, c, "root_version", h.root_version);
    add_fact(w->arena, c, "is_hardware", h.is_hardware);
    add_fact(w->arena, c, "calls", (int64_t)h.calls);
}

static enum state late(int64_t ms, int64_t late_ms, int64_t dead_ms)
{
    return ms >= dead_ms ? DOWN : ms >= late_ms ? DEGRADED : OK_STATE;
}

static void tell_scheduler(struct work *w, const struct system_facts *f, struct component *c)
{
    *c = (struct component){ .name = STR("scheduler"), .state = DOWN, .detail = STR("No round of planning was ever noted"), .version = f->round_version };
    if (!f->has_round_age_ms)
        return;
    c->state = late(f->round_age_ms, ROUND_LATE_MS, ROUND_DEAD_MS);
    c->detail = str_fmt(w->arena, "The last noted round of planning was %lld s ago", (long long)(f->round_age_ms / 1000));
    add_fact(w->arena, c, "round_age_ms", f->round_age_ms);
    add_fact(w->arena, c, "round_us", f->round_us);
}

static void tell_audit(struct work *w, const struct system_facts *f, struct component *c)
{
    *c = (struct component){ .name = STR("audit"), .state = late(f->unnumbered_age_ms, SEAL_LATE_MS, SEAL_DEAD_MS) };
    c->detail = str_fmt(w->arena, "%lld events have no number yet; %lld logs are longer than their newest signed head", (long long)f->unnumbered,
                        (long long)f->unsigned_logs);
    add_fact(w->arena, c, "unnumbered", f->unnumbered);
    if (f->has_unnumbered_age_ms)
        add_fact(w->arena, c, "unnumbered_age_ms", f->unnumbered_age_ms);
    add_fact(w->arena, c, "unsigned_logs", f->unsigned_logs);
    if (f->has_head_age_ms)
        add_fact(w->arena, c, "head_age_ms", f->head_age_ms);
}

static void tell_queue(struct work *w, const struct system_facts *f, struct component *c)
{
    *c = (struct component){ .name = STR("queue"), .state = f->waiting && !f->nodes_ready ? DEGRADED : OK_STATE };
    c->detail = str_fmt(w->arena, "%lld jobs wait, %lld run", (long long)f->waiting, (long long)f->running);
    add_fact(w->arena, c, "waiting", f->waiting);
    add_fact(w->arena, c, "running", f->running);
}

static void tell_workers(struct work *w, const struct system_facts *f, struct component *c)
{
    *c = (struct component){ .name = STR("workers"), .state = !f->nodes_ready ? DOWN : f->nodes_lost ? DEGRADED : OK_STATE };
    c->detail = str_fmt(w->arena, "%lld ready, %lld draining, %lld lost, %lld in quarantine", (long long)f->nodes_ready, (long long)f->nodes_draining,
                        (long long)f->nodes_lost, (long long)f->nodes_quarantined);
    add_fact(w->arena, c, "ready", f->nodes_ready);
    add_fact(w->arena, c, "draining", f->nodes_draining);
    add_fact(w->arena, c, "lost", f->nodes_lost);
    add_fact(w->arena, c, "quarantined", f->nodes_quarantined);
    add_fact(w->arena, c, "slots", f->slots);
    add_fact(w->arena, c, "used_slots", f->used_slots);
}

/* Only where there is something: one server alone replicates nothing. How far behind a standby is, it alone knows. */
static bool tell_replication(struct work *w, const struct system_facts *f, struct component *c)
{
    if (!f->standbys && !f->in_recovery)
        return false;
    *c = (struct component){ .name = STR("replication"), .detail = str_fmt(w->arena, "%lld standbys are connected", (long long)f->standbys) };
    add_fact(w->arena, c, "standbys", f->standbys);
    if (f->in_recovery && f->has_replay_age_ms) {
        c->state = f->replay_age_ms >= REPLAY_LATE_MS ? DEGRADED : OK_STATE;
        add_fact(w->arena, c, "replay_age_ms", f->replay_age_ms);
    }
    return true;
}

/* Seconds since this process began, from what the kernel keeps of it: field 22 of its stat, in ticks after the boot. */
static int64_t uptime_s(void)
{
    char text[1024] = "";
    struct timespec now;
    long long ticks = 0;
    CLEANUP(fd_closep) int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    const char *p = strrchr(text, ')');
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (!p || sscanf(p, "%lld", &ticks) != 1)
        return 0;
    return now.tv_sec - ticks / sysconf(_SC_CLK_TCK);
}

static enum errc health(struct work *w, const void *in, void *out, struct err *e)
{
    (void)in, (void)e;
    struct health_out *ret = out;
    struct system_facts f = { 0 };
    size_t n = 0, zones = keyd_client_zones(w->app->keyd);
    struct component *c = ARENA_ARRAY(w->arena, struct component, OWN_MAX + zones);
    bool is_known = ask_postgresql(w, &f, &c[n++]);
    ask_redis(w, &c[n++]);
    for (size_t i = 0; i < zones; i++)
        ask_keys(w, keyd_client_zone(w->app->keyd, i), &c[n++]);
    if (is_known) {
        tell_scheduler(w, &f, &c[n++]);
        tell_audit(w, &f, &c[n++]);
        tell_queue(w, &f, &c[n++]);
        tell_workers(w, &f, &c[n++]);
        n += tell_replication(w, &f, &c[n]);
    }
    *ret = (struct health_out){ .state = c[0].state, .version = STR(FALAJ_VERSION), .uptime_s = uptime_s(), .checked_at = { w->now_us }, .components = { c, n } };
    for (size_t i = 0; i < n && ret->state == OK_STATE; i++)
        if (c[i].state != OK_STATE)
            ret->state = DEGRADED;
    return ERR_OK;
}

static const struct route rows[] = {
    { .method = HTTP_GET, .path = "/v1/system/health", .lane = LANE_CALLS,
      .op = "system_health", .perm = PERM_SYSTEM_INSPECT, .handler = health, .status = 200,
      .out = &health_out_schema, .flags = R_NO_TX | R_UNNOTICED,
      .doc = "How each part of the platform is, asked now; the answer is 200 whatever is down" },
};
extern const struct route_table system_health_routes;
ROUTE_TABLE(system_health_routes, rows);
