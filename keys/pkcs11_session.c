/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_session.c - the connection to a token: found by its label, logged in, kept, made anew, and left alone when it is broken.
 *
 * The login of a process lasts as long as one of its sessions, so one session is kept aside for it (now.h) and the others are a
 * pool. A connection is made with the lock held: who comes meanwhile waits for its outcome instead of trying too.
 * The breaker: after a connection that could not be made, or FAILURES_MAX troubles in a row, calls are refused at once for a
 * pause that doubles from PAUSE_MIN to PAUSE_MAX; the first call after it is the trial, the others go on being refused until it
 * has succeeded. A PIN that was refused is not tried again before the store is opened anew: tokens lock themselves after a
 * few. */
#include <stdio.h>
#include <string.h>
#include "core/base/log.h"
#include "keys/keyd_wire.h"
#include "keys/pkcs11_int.h"
#include "keys/pkcs11_pin.h"

enum { SLOTS_MAX = 256, FAILURES_MAX = 5, PAUSE_MIN_US = 200 * 1000, PAUSE_MAX_US = 30 * 1000000 };

enum errc p11_bad(struct p11_session *s, CK_RV rv, const char *what, struct err *e)
{
    char buf[24];
    s->is_lost = s->is_lost || p11_rv_is_lost(rv);
    s->is_trouble = true;
    return FAIL(e, SEALED, "the token answered %s to %s", p11_rv_name(rv, buf), what);
}

enum errc p11_nonsense(struct p11_session *s, const char *what, struct err *e)
{
    s->is_trouble = true;
    return FAIL(e, SEALED, "the token gave a reply to %s that makes no sense", what);
}

void p11_text(const unsigned char *in, size_t n, char *out, size_t cap)
{
    while (n > 0 && (in[n - 1] == ' ' || in[n - 1] == 0))
        n--;
    n = n < cap - 1 ? n : cap - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] >= 0x20 && in[i] < 0x7f ? (char)in[i] : '?';
    out[n] = '\0';
}

enum errc p11_slot_find(CK_FUNCTION_LIST *f, const char *label, CK_SLOT_ID *ret, CK_TOKEN_INFO *ret_info, struct err *e)
{
    CK_SLOT_ID slots[SLOTS_MAX];
    CK_ULONG n = SLOTS_MAX;
    char buf[24];
    int found = 0;
    CK_RV rv = f->C_GetSlotList(CK_TRUE, slots, &n);
    if (rv != CKR_OK || n > SLOTS_MAX)
        return FAIL(e, SEALED, "the token answered %s to C_GetSlotList", rv == CKR_OK ? "nonsense" : p11_rv_name(rv, buf));
    for (CK_ULONG i = 0; i < n; i++) {
        CK_TOKEN_INFO info;
        char seen[sizeof info.label + 1];
        memset(&info, 0, sizeof info);
        if (f->C_GetTokenInfo(slots[i], &info) != CKR_OK || !(info.flags & CKF_TOKEN_INITIALIZED))
            continue;
        p11_text(info.label, sizeof info.label, seen, sizeof seen);
        if (strcmp(seen, label) != 0)
            continue;
        *ret = slots[i];
        *ret_info = info;
        found++;
    }
    if (found > 1)
        return FAIL(e, SEALED, "%d tokens have the label that is configured", found);
    return found == 1 ? ERR_OK : FAIL(e, NOT_FOUND, "no token has the label that is configured");
}

static void describe(const struct p11 *p, CK_FUNCTION_LIST *f, const CK_TOKEN_INFO *t, struct attest *a)
{
    CK_INFO info;
    char name[33], maker[33];
    const char *slash = strrchr(p->module->path, '/');
    memset(&info, 0, sizeof info);
    (void)f->C_GetInfo(&info);          /* only described by it */
    p11_text(info.libraryDescription, sizeof info.libraryDescription, name, sizeof name);
    p11_text(info.manufacturerID, sizeof info.manufacturerID, maker, sizeof maker);
    snprintf(a->library, sizeof a->library, "%.30s %d.%d, %.30s", name, info.libraryVersion.major, info.libraryVersion.minor,
             maker);
    snprintf(a->module, sizeof a->module, "%.63s", slash ? slash + 1 : p->module->path);
    p11_text(t->label, sizeof t->label, a->token_label, sizeof a->token_label);
    p11_text(t->manufacturerID, sizeof t->manufacturerID, a->token_manufacturer, sizeof a->token_manufacturer);
    p11_text(t->model, sizeof t->model, a->token_model, sizeof a->token_model);
    p11_text(t->serialNumber, sizeof t->serialNumber, a->token_serial, sizeof a->token_serial);
    snprintf(a->firmware, sizeof a->firmware, "%d.%d", t->firmwareVersion.major, t->firmwareVersion.minor);
    snprintf(a->hardware, sizeof a->hardware, "%d.%d", t->hardwareVersion.major, t->hardwareVersion.minor);
}

/* A token that is one attempt from locking itself is left to its operator. */
static enum errc login(struct p11 *p, struct p11_session *s, const CK_TOKEN_INFO *t, struct err *e)
{
    struct pin *pin = NULL;
    char buf[24];
    if (t->flags & (CKF_USER_PIN_LOCKED | CKF_USER_PIN_FINAL_TRY)) {
        p->is_pin_refused = true;
        return FAIL(e, SEALED, t->flags & CKF_USER_PIN_LOCKED ? "the PIN of the token is locked"









                                                                                                                                      : "one more wrong PIN would lock the token; log in with its own tool first");
    }
    TRY(pin_read(p->config.pin_file, &pin, e));
    CK_RV rv = s->f->C_Login(s->h, CKU_USER, pin->b, pin->n);
    pin_free(pin);
    if (rv == CKR_OK || rv == CKR_USER_ALREADY_LOGGED_IN)
        return ERR_OK;
    if (!p11_rv_is_pin(rv))
        return p11_bad(s, rv, "C_Login", e);
    p->is_pin_refused = true;
    return FAIL(e, SEALED, "the token refused the PIN (%s); it is not tried again before a restart or SIGHUP",
                p11_rv_name(rv, buf));
}

/* In the module. */
static enum errc connect_in(struct p11 *p, struct p11_session *s, struct attest *a, struct err *e)
{
    CK_TOKEN_INFO token;
    bool is_rw = p->config.is_init || p->config.is_rotate;
    enum errc rc = p11_slot_find(s->f, p->config.token_label, &s->slot, &token, e);
    if (rc == ERR_NOT_FOUND)
        return FAIL(e, SEALED, "no token has the label that is configured");
    TRY(rc);
    describe(p, s->f, &token, a);
    s->has_random = (token.flags & CKF_RNG) != 0;
    CK_RV rv = s->f->C_OpenSession(s->slot, CKF_SERIAL_SESSION | (is_rw ? CKF_RW_SESSION : 0), NULL, NULL, &s->h);
    if (rv != CKR_OK)
        return p11_bad(s, rv, "C_OpenSession", e);
    rc = login(p, s, &token, e);
    if (rc == ERR_OK)
        rc = p11_keys_load(s, &p->config, a, e);
    if (rc == ERR_OK)
        rc = p11_mech_probe(s, p->config.mechanism, s->keys.roots[s->keys.n_roots - 1].key, e);
    if (rc != ERR_OK)
        (void)s->f->C_CloseSession(s->h);
    return rc;
}

/* With the lock held; is_reset: begin the library anew first, which is the only way for some to see a token again. */
static enum errc connect_once(struct p11 *p, bool is_reset, struct err *e)
{
    if (!p->module)
        TRY(p->list ? p11_module_open_list(p->config.path, p->list, &p->module, e)
            : p11_module_open(p->config.path, &p->module, e));
    struct p11_session s = { .f = p->module->f, .epoch = p->epoch + 1 };
    struct attest a = { .is_hardware = true, .has_objects = true, .provider = "pkcs11" };
    if (is_reset)
        TRY(p11_module_reset(p->module, p->now.generation, e));
    s.generation = p11_module_enter(p->module);
    enum errc rc = connect_in(p, &s, &a, e);
    p11_module_leave(p->module);
    if (rc != ERR_OK)
        p->now.generation = s.generation;
    TRY(rc);
    snprintf(a.mechanism, sizeof a.mechanism, "%s", p11_mech_name(s.mech));
    p->epoch++;
    p->now = s;
    p->attest = a;
    p->n_idle = p->n_open = 0;
    p->is_connected = true;
    p->config.is_init = p->config.is_rotate = false;
    return ERR_OK;
}

/* With the lock held. */
static void failed(struct p11 *p, bool is_at_once, const struct err *e)
{
    p->failures++;
    snprintf(p->attest.reason, sizeof p->attest.reason, "%.*s", ATTEST_REASON_MAX - 1, e->msg);
    if (!is_at_once && p->failures < FAILURES_MAX)
        return;
    p->pause_us = p->pause_us == 0 ? PAUSE_MIN_US : p->pause_us * 2 < PAUSE_MAX_US ? p->pause_us * 2 : PAUSE_MAX_US;
    p->closed_until_us = wire_now_us() + p->pause_us;
    log_event(LOG_ERROR, "keyd.token_failed", "why", LOG_S(e->msg), "detail", LOG_S(e->detail), "pause_ms",
              LOG_I(p->pause_us / 1000),
              NULL);
}

static void drop_sessions(struct p11 *p)
{
    if (!p->is_connected)
        return;
    p->is_connected = false;
    if (p11_module_enter(p->module) == p->now.generation) {
        for (int i = 0; i < p->n_idle; i++)
            (void)p->now.f->C_CloseSession(p->idle[i]);
        (void)p->now.f->C_CloseSession(p->now.h);
    }
    p11_module_leave(p->module);
    p->n_idle = p->n_open = 0;
}

static enum errc sealed_again(const struct p11 *p, struct err *e)
{
    return FAIL(e, SEALED, "%s", p->attest.reason);
}

static enum errc connect_token(struct p11 *p, struct err *e)
{
    struct err local;
    struct err *why = e ? e : &local;
    if (p->is_pin_refused)
        return sealed_again(p, e);
    enum errc rc = connect_once(p, false, why);
    if (rc != ERR_OK && !p->is_pin_refused && p->module)
        rc = connect_once(p, true, why);
    if (rc != ERR_OK) {
        failed(p, true, why);
        return ERR_SEALED;
    }
    p->attest.reason[0] = '\0';
    log_event(LOG_INFO, "keyd.token_ready", "token", LOG_S(p->attest.token_label), "mechanism", LOG_S(p->attest.mechanism),
              "roots",
              LOG_I(p->now.keys.n_roots), NULL);
    return ERR_OK;
}

/* With the lock held. While it is closed and after it: one caller gets through, and moves the pause on for the others. */
static bool breaker_lets_in(struct p11 *p)
{
    int64_t now_us = wire_now_us();
    if (p->closed_until_us == 0)
        return true;
    if (now_us < p->closed_until_us)
        return false;
    p->closed_until_us = now_us + p->pause_us;
    return true;
}

/* On OK the module has been entered, and s must be given back. */
static enum errc session_take(struct p11 *p, bool is_rw, struct p11_session *s, struct err *e)
{
    enum errc rc = ERR_OK;
    pthread_mutex_lock(&p->lock);
    while (rc == ERR_OK && p->is_connected && p->n_idle == 0 && p->n_open >= P11_SESSIONS_MAX)
        pthread_cond_wait(&p->given_back, &p->lock);
    if (!breaker_lets_in(p))
        rc = sealed_again(p, e);
    else if (!p->is_connected)
        rc = connect_token(p, e);
    if (rc == ERR_OK) {
        *s = p->now;
        bool is_same = p11_module_enter(p->module) == s->generation;
        CK_RV rv = CKR_SESSION_HANDLE_INVALID;          /* the library was begun anew by another token's provider */
        if (is_same && p->n_idle > 0 && !is_rw) {
            s->h = p->idle[--p->n_idle];
            rv = CKR_OK;
        } else if (is_same) {
            rv = s->f->C_OpenSession(s->slot, CKF_SERIAL_SESSION | (is_rw ? CKF_RW_SESSION : 0), NULL, NULL, &s->h);
            p->n_open += rv == CKR_OK && !is_rw;
        }
        if (rv != CKR_OK) {
            p11_module_leave(p->module);
            rc = p11_bad(s, rv, "C_OpenSession", e);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* With the lock held: a session that is not kept. */
static void session_end(struct p11 *p, const struct p11_session *s)
{
    if (p11_module_enter(p->module) == s->generation)
        (void)s->f->C_CloseSession(s->h);
    p11_module_leave(p->module);
}

static void session_give(struct p11 *p, bool is_rw, const struct p11_session *s, const struct err *e)
{
    bool is_good = !s->is_lost && !s->is_trouble;
    p11_module_leave(p->module);
    pthread_mutex_lock(&p->lock);
    bool is_current = p->is_connected && s->epoch == p->epoch;
    if (is_current && !is_rw && is_good) {
        p->idle[p->n_idle++] = s->h;
    } else {
        session_end(p, s);
        p->n_open -= is_current && !is_rw;
    }
    if (is_good) {
        p->failures = 0;
        p->closed_until_us = p->pause_us = 0;
    } else if (is_current && s->is_lost) {
        drop_sessions(p);
    } else if (is_current) {
        failed(p, false, e);
    }
    pthread_cond_broadcast(&p->given_back);
    pthread_mutex_unlock(&p->lock);
}

enum errc p11_run(struct p11 *p, bool is_rw, p11_op op, void *arg, struct err *e)
{
    struct p11_session s;
    struct err local;
    struct err *why = e ? e : &local;
    enum errc rc = ERR_OK;
    for (int attempt = 0; attempt < 2; attempt++) {
        memset(&s, 0, sizeof s);
        rc = session_take(p, is_rw, &s, why);
        if (rc == ERR_OK) {
            rc = op(&s, arg, why);
            session_give(p, is_rw, &s, why);
        } else if (s.is_lost) {
            pthread_mutex_lock(&p->lock);
            if (p->epoch == s.epoch)
                drop_sessions(p);
            pthread_mutex_unlock(&p->lock);
        }
        if (!s.is_lost)
            break;
    }
    return rc;
}

struct reload {
    const struct p11 *p;
    struct p11_session s;
    struct attest a;
};

static enum errc reload_in(struct p11_session *s, void *arg, struct err *e)
{
    struct reload *r = arg;
    TRY(p11_keys_load(s, &r->p->config, &r->a, e));
    r->s = *s;
    return ERR_OK;
}

enum errc p11_reload_keys(struct p11 *p, struct err *e)
{
    struct reload r = { .p = p };
    pthread_mutex_lock(&p->lock);
    r.a = p->attest;
    pthread_mutex_unlock(&p->lock);
    TRY(p11_run(p, false, reload_in, &r, e));
    pthread_mutex_lock(&p->lock);
    if (p->epoch == r.s.epoch) {
        p->now.keys = r.s.keys;
        p->attest = r.a;
    }
    pthread_mutex_unlock(&p->lock);
    return ERR_OK;
}

void p11_disconnect(struct p11 *p)
{
    pthread_mutex_lock(&p->lock);
    drop_sessions(p);
    pthread_mutex_unlock(&p->lock);
    p11_module_close(p->module);
    p->module = NULL;
}
