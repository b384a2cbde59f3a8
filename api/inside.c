/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - the sessions of this process: one thread that waits for all their sockets, and the calls that begin and end them.
 *
 * One lock guards all of it; it is given up while the thread waits, and nothing is done under it that blocks. A session's last
 * turn takes it off the list and frees it. */
#include "api/inside_int.h"
#include "api/api.h"
#include "api/api_int.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/db/run_tx.h"
#include "core/http/ws_hello.h"
#include "tenants/access/actor.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TICK_MS = 1000, TURN_ARENA = 1 << 20 };
static const int64_t LOOK_US = 3000000, PING_US = 15000000;

struct inside {
    struct pipeline *pipeline;
    pthread_mutex_t lock;               /* guards list, stopping, and what inside_int.h says */
    pthread_t thread;
    int wake_fd;
    struct inside_call *list;
    uint64_t changes;                   /* of the list */
    struct pollfd polls[1 + SIDES * INSIDE_MAX];    /* the thread's */
    bool stopping;
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

static void wake(struct inside *k)
{
    const uint64_t one = 1;
    const ssize_t sent = write(k->wake_fd, &one, sizeof one);
    (void)sent;                         /* fails only when it is awake already */
}

/* --- the thread --- */

/* What time says. */
static void look_at_clock(struct inside_call *s, int64_t now, bool stopping)
{
    const bool is_met = s->sides[MACHINE].fd >= 0;
    if (stopping)
        relay_end(s, INSIDE_WHY_STOPPING);
    else if (!is_met && now - s->born_us >= INSIDE_MEET_S * INT64_C(1000000))
        relay_end(s, INSIDE_WHY_MACHINE_ABSENT);
    else if (now - s->moved_us >= INSIDE_IDLE_S * INT64_C(1000000))
        relay_end(s, INSIDE_WHY_IDLE);
    else if (now - s->born_us >= INSIDE_LIFE_S * INT64_C(1000000))
        relay_end(s, INSIDE_WHY_LIFE);
    if (!s->why && now - s->pinged_us >= PING_US) {
        s->pinged_us = now;
        for (int i = 0; i < SIDES; i++)
            relay_say(&s->sides[i], WS_PING, STR(""), STR(""));
    }
    s->is_over = relay_is_over(s, now);
}

/* Its call is to run: to look, or for the last time. */
static bool is_due(const struct inside_call *s, int64_t now)
{
    return !s->has_turn && !s->is_meeting && (s->is_over || (!s->why && now >= s->look_us));
}

static size_t wait_list(struct inside *k, struct pollfd *p)
{
    size_t n = 0;
    p[n++] = (struct pollfd){ k->wake_fd, POLLIN, 0 };
    for (struct inside_call *s = k->list; s; s = s->next)
        for (int i = 0; i < SIDES; i++) {
            const short wants = relay_wants(&s->sides[i]);
            p[n++] = (struct pollfd){ wants ? s->sides[i].fd : -1, wants, 0 };
        }
    return n;
}

/* A session whose call is to run; NULL: none is. */
static struct inside_call *take_due(struct inside *k, int64_t now)
{
    struct inside_call *s = k->list;
    while (s && !is_due(s, now))
        s = s->next;
    if (s)
        s->has_turn = true;
    return s;
}

static void move(struct inside *k, const struct pollfd *p, int64_t now)
{
    size_t at = 1;
    for (struct inside_call *s = k->list; s; s = s->next, at += SIDES) {
        const short got[SIDES] = { p[at].revents, p[at + 1].revents };
        look_at_clock(s, now, k->stopping);
        relay_turn(s, got);
    }
}

static void *run(void *arg)
{
    struct inside *k = arg;
    struct pollfd *p = k->polls;
    pthread_setname_np(pthread_self(), "inside");
    pthread_mutex_lock(&k->lock);
    while (!k->stopping || k->list) {
        const size_t n = wait_list(k, p);
        const uint64_t changes = k->changes;
        pthread_mutex_unlock(&k->lock);
        if (poll(p, n, TICK_MS) > 0 && p[0].revents) {
            uint64_t drain;
            const ssize_t got = read(k->wake_fd, &drain, sizeof drain);
            (void)got;
        }
        pthread_mutex_lock(&k->lock);
        const int64_t now = now_us();
        if (k->changes == changes)      /* else what was waited for is of another list: the next turn sees it */
            move(k, p, now);
        for (struct inside_call *s; (s = take_due(k, now));) {
            pthread_mutex_unlock(&k->lock);
            call_again(s->c);
            pthread_mutex_lock(&k->lock);
        }
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

struct inside *inside_new(struct pipeline *p)
{
    struct inside *k = calloc(1, sizeof *k);
    ASSERT(k);
    k->pipeline = p;
    k->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ASSERT(k->wake_fd >= 0);
    pthread_mutex_init(&k->lock, NULL);
    ASSERT(pthread_create(&k->thread, NULL, run, k) == 0);
    return k;
}

void inside_stop(struct inside *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->stopping = true;
    pthread_mutex_unlock(&k->lock);
    wake(k);
    pthread_join(k->thread, NULL);
}

void inside_free(struct inside *k)
{
    if (!k)
        return;
    close(k->wake_fd);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

/* --- the ends come --- */

/* Of a loop of HTTP: an end is open, or never will be. */
static void opened(void *ctx, int fd, struct str first)
{
    struct inside_side *side = ctx;
    struct inside_call *s = side->of;
    struct inside *k = s->k;
    static const char ask = INSIDE_ASK;
    pthread_mutex_lock(&k->lock);
    side->fd = fd;
    side->is_gone = fd < 0;
    if (fd < 0)
        relay_end(s, side == &s->sides[PERSON] ? INSIDE_WHY_PERSON_LEFT : INSIDE_WHY_MACHINE_LEFT);
    else if (side == &s->sides[MACHINE])
        relay_say(side, WS_BINARY, str_n(&ask, 1), s->s.ask);
    if (fd >= 0)
        relay_first(side, first);
    pthread_mutex_unlock(&k->lock);
    wake(k);
}

static void upgrade(struct call *c, struct str key, struct inside_side *side)
{
    char accept[WS_ACCEPT_BYTES + 1];
    ws_hello_accept(key, accept);
    const struct http_header h[] = { { STR("Upgrade"), STR("websocket") }, { STR("Sec-WebSocket-Accept"), str_c(accept) },
                                     { STR("X-Request-Id"), c->work.request_id }, { STR("Cache-Control"), STR("no-store") },
                                     { STR("Sec-WebSocket-Protocol"), STR(INSIDE_PROTOCOL) } };
    http_upgrade(c->exchange, h, c->session_cookie.ptr ? 5 : 4, opened, side);
}

static struct inside_call *session_new(struct inside *k, struct call *c, const struct inside_session *row)
{
    struct inside_call *s = calloc(1, sizeof *s);
    ASSERT(s);
    const int64_t now = now_us();
    *s = (struct inside_call){ .k = k, .s = *row, .c = c, .person = principal_ref(c->principal), .born_us = now, .moved_us = now,
                               .look_us = now + LOOK_US, .looked_us = now,
                               .pinged_us = now, .exit_code = -1 };
    for (int i = 0; i < SIDES; i++) {
        s->sides[i].of = s;
        s->sides[i].fd = -1;
        s->sides[i].reader.from_client = true;
    }
    s->sides[PERSON].x = c->exchange;
    return s;
}

enum errc inside_open(struct inside *k, struct call *c, const struct inside_session *row, struct str ws_key, struct err *e)
{
    struct inside_call *s = session_new(k, c, row);
    pthread_mutex_lock(&k->lock);
    const bool is_open = relay_find(k->list, row->session_id) != NULL,
               is_room = relay_has_room(k->list, s->person->tenant_id, INSIDE_MAX) && !k->stopping;
    if (is_room && !is_open) {
        s->next = k->list;
        k->list = s;
        k->changes++;
        c->own = s;
    }
    pthread_mutex_unlock(&k->lock);
    if (is_room && !is_open) {
        upgrade(c, ws_key, &s->sides[PERSON]);
        return ERR_OK;
    }
    principal_unref(s->person);
    free(s);
    if (is_open)
        return FAIL(e, CONFLICT, "This session's stream is open already; ask for another session");
    return FAIL(e, UNAVAILABLE, "No place is free for one more session of yours among the %d of this falaj-api; end one, "
                "or try again later", INSIDE_MAX);
}

/* The lock is held. */
static struct inside_call *waiting(struct inside *k, struct uuid session_id)
{
    for (struct inside_call *s = k->list; s; s = s->next)
        if (uuid_eq(s->s.session_id, session_id) && !s->sides[MACHINE].x && !s->why)
            return s;
    return NULL;
}

bool inside_waits(struct inside *k, struct uuid session_id)
{
    pthread_mutex_lock(&k->lock);
    const bool found = waiting(k, session_id) != NULL;
    pthread_mutex_unlock(&k->lock);
    return found;
}

enum errc inside_meet(struct inside *k, struct call *c, struct uuid session_id, struct str ws_key, struct err *e)
{
    pthread_mutex_lock(&k->lock);
    struct inside_call *s = waiting(k, session_id);
    if (s) {
        s->sides[MACHINE].x = c->exchange;
        s->is_meeting = true;           /* it lives until this is over */
    }
    pthread_mutex_unlock(&k->lock);
    if (!s)
        return FAIL(e, UNAVAILABLE, "Nobody waits for this session here; try again, another falaj-api may have it");
    principal_unref(TAKE(c->principal));
    upgrade(c, ws_key, &s->sides[MACHINE]);
    pthread_mutex_lock(&k->lock);
    s->is_meeting = false;
    pthread_mutex_unlock(&k->lock);
    return ERR_OK;
}

/* --- turns of the person's call --- */

static struct audit_event end_event(struct work *w, const struct inside_call *s)
{
    struct audit_event ev = audit_event_by(w, s->person, AUDIT_JOB_LEAVE);
    ev.resource_kind = STR("job");
    ev.resource_prefix = "job";
    ev.resource_id = s->s.job_id;
    ev.http_status = 200;
    audit_event_detail(&ev, AUDIT_D_STR("inside", id_text(w->arena, "ins", s->s.session_id)));
    audit_event_detail(&ev, AUDIT_D_STR("why", str_c(inside_whys[s->why].text)));
    audit_event_detail(&ev, AUDIT_D_INT("bytes_in", s->bytes_in));
    audit_event_detail(&ev, AUDIT_D_INT("bytes_out", s->bytes_out));
    audit_event_detail(&ev, AUDIT_D_INT("seconds", (now_us() - s->born_us) / 1000000));
    if (s->exit_code >= 0)
        audit_event_detail(&ev, AUDIT_D_INT("exit_code", s->exit_code));
    return ev;
}

static enum errc write_end(struct work *w, const struct inside_call *s, struct err *e)
{
    const struct audit_event ev = end_event(w, s);
    TRY(inside_end(w, s->s.session_id, e));
    return audit_append(w, &ev, e);
}

/* The last turn. The person's exchange is given back last: the call lies in it. */
static void finish(struct inside_call *s)
{
    struct inside *k = s->k;
    struct err e = { 0 };
    struct call *c = s->c;
    CLEANUP(arena_freep) struct arena *a = arena_new(TURN_ARENA);
    struct work w = c->work;
    w.arena = a;
    w.principal = s->person;
    w.projects = (struct slice){ 0 };       /* it was let in, and its end is to be written whatever it may by now */
    w.now_us = clock_wall_us(w.app->clock);
    w.tenant_id = s->person->tenant_id;
    if (RUN_WRITE(&w, write_end(&w, s, &e), &e) != ERR_OK)
        log_err(LOG_ERROR, "inside.end_not_written", &e);
    pthread_mutex_lock(&k->lock);
    struct inside_call **at = &k->list;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    k->changes++;
    pthread_mutex_unlock(&k->lock);
    if (s->sides[MACHINE].x)
        http_upgrade_end(s->sides[MACHINE].x);
    principal_unref(TAKE(c->principal));
    principal_unref(s->person);
    struct http_exchange *x = s->sides[PERSON].x;
    free(s);
    http_upgrade_end(x);
    wake(k);
}

/* What the turns of hours allocate lies in an arena of each. */
static enum errc look_in(struct inside_call *s, enum inside_why *ret_why, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(TURN_ARENA);
    struct work *w = &s->c->work;
    struct arena *own = w->arena;
    bool goes_on = true;
    w->arena = a;
    enum errc rc = flight_again(flight_of(w), e);
    const bool is_let_in = rc == ERR_OK;
    if (is_let_in)
        rc = RUN_WRITE(w, inside_heard(w, s->s.session_id, &goes_on, e), e);
    w->arena = own;
    w->projects = (struct slice){ 0 };
    if (is_let_in)
        *ret_why = rc == ERR_FORBIDDEN ? INSIDE_WHY_CLOSED
                   : rc == ERR_OK && !goes_on ? INSIDE_WHY_PROGRAM_ENDED : INSIDE_GOES_ON;
    else if (rc != ERR_UNAVAILABLE && rc != ERR_DEADLINE && rc != ERR_RATE)
        *ret_why = INSIDE_WHY_NOT_ALLOWED;
    return rc;
}

/* Does it go on? What cannot be asked now is asked again, for as long as its row counts. */
static enum inside_why look(struct inside_call *s)
{
    struct err e = { 0 };
    enum inside_why why = INSIDE_GOES_ON;
    const enum errc rc = look_in(s, &why, &e);
    const int64_t now = now_us();
    if (rc == ERR_OK)
        s->looked_us = now;
    return !why && now - s->looked_us >= INSIDE_LOST_S * INT64_C(1000000) ? INSIDE_WHY_NOT_ASKED : why;
}

enum errc inside_turn(struct call *c, struct err *e)
{
    struct inside_call *s = c->own;
    struct inside *k = s->k;
    (void)e;
    pthread_mutex_lock(&k->lock);
    const bool is_over = s->is_over;
    pthread_mutex_unlock(&k->lock);
    if (is_over) {
        finish(s);
        return ERR_OK;
    }
    const enum inside_why why = look(s);
    pthread_mutex_lock(&k->lock);
    if (why)
        relay_end(s, why);
    s->look_us = now_us() + LOOK_US;
    s->has_turn = false;
    pthread_mutex_unlock(&k->lock);
    wake(k);
    return ERR_OK;
}
