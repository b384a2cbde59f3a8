/* SPDX-License-Identifier: Apache-2.0 */
/* test_body_owner.c - whose memory a body is counted against: what is in memory decides, and nothing is looked up. */
#include "tests/db/tenants/fixture.h"
#include "api/api_int.h"
#include "api/pipeline.h"
#include "core/http/body_budget.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/session.h"
#include "tenants/identity/session_authn.h"

const struct route_table *const all_routes[] = { NULL };

/* Its seconds stand still, so that nobody is forgotten on a slow machine. */
static int64_t test_wall(void *ctx) { (void)ctx; return clock_wall_us(&clock_system); }
static int64_t test_mono(void *ctx) { (void)ctx; return 1000000; }
static const struct clock still = { test_wall, test_mono, NULL };

static struct uuid tenant, user;
static char token[TOKEN_TEXT], cookie[COOKIE_TEXT];
static struct pipeline pipeline;
static struct listener people = { &pipeline, false }, machines = { &pipeline, true };

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { authn_stmts, session_stmts, session_authn_stmts, NULL };
    struct uuid session_id;
    world_new(lists, 2);
    tenant = new_id();
    tenant_make(tenant, "amana");
    user = user_make(tenant, "amal", "ml-engineer");
    token_give(tenant, user, "1 hour", "{}", token);
    struct work *w = unit_open(tenant, NULL);
    const struct session_new in = { user, "password", STAGE_FULL, false, STR("Browser/1"), 0 };
    OK(session_open(w, &in, cookie, &session_id, &e));
    unit_commit(w);
    OK(proxies_parse(STR("10.0.0.0/8"), &pipeline.proxies, &e));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

/* A memory in which nobody is. */
static int fresh(void **state)
{
    (void)state;
    pipeline.authn = authn_new(app_pool, &still, 5000);
    pipeline.sessions = session_authn_new(app_pool, &still, world_config);
    return 0;
}

static int done(void **state)
{
    (void)state;
    authn_free(pipeline.authn);
    session_authn_free(pipeline.sessions);
    return 0;
}

struct sender { const char *peer, *forwarded, *bearer, *cookie, *fingerprint; };

static struct body_owner owner(struct listener *l, struct sender s)
{
    char bearer[256], cookies[256];
    struct http_header h[3];
    struct http_request r = { .remote_addr = str_c(s.peer), .headers = h };
    snprintf(bearer, sizeof bearer, "Bearer %s", s.bearer ? s.bearer : "");
    snprintf(cookies, sizeof cookies, "seen=1; " SESSION_COOKIE "=%s", s.cookie ? s.cookie : "");
    if (s.forwarded)
        h[r.nheaders++] = (struct http_header){ STR("X-Forwarded-For"), str_c(s.forwarded) };
    if (s.bearer)
        h[r.nheaders++] = (struct http_header){ STR("Authorization"), str_c(bearer) };
    if (s.cookie)
        h[r.nheaders++] = (struct http_header){ STR("Cookie"), str_c(cookies) };
    r.peer_fingerprint = s.fingerprint ? str_c(s.fingerprint) : STR_NULL;
    return pipeline_body_owner(l, &r);
}
#define OWNER(listener, ...) owner(listener, (struct sender){ __VA_ARGS__ })

static void is_address(struct body_owner o, const char *address)
{
    const struct body_owner want = body_owner_address(str_c(address));
    assert_false(o.is_known);
    assert_int_equal(o.n, want.n);
    assert_memory_equal(o.key, want.key, want.n);
}

static void is_known(struct body_owner o, const uint8_t key[SHARE_KEY_MAX])
{
    assert_true(o.is_known);
    assert_int_equal(o.n, SHARE_KEY_MAX);
    assert_memory_equal(o.key, key, SHARE_KEY_MAX);
}

/* The caller is in memory from here on, for some seconds. */
static void let_in(void)
{
    struct arena *a = arena_new(4 << 20);
    struct principal *p = NULL;
    OK(authn_token(pipeline.authn, str_c(token), STR("192.0.2.1"), a, &p, &e));
    principal_unref(p);
    OK(session_authn(pipeline.sessions, str_c(cookie), true, a, &p, &e));
    principal_unref(p);
    arena_free(a);
}

static void an_address_is_the_client_s(void **state)
{
    (void)state;
    is_address(OWNER(&people, "192.0.2.1"), "192.0.2.1");
    is_address(OWNER(&people, "10.0.0.1", "198.51.100.7"), "198.51.100.7");
    is_address(OWNER(&people, "192.0.2.1", "198.51.100.7"), "192.0.2.1");      /* no proxy of ours: anybody may write that */
    is_address(OWNER(&people, "10.0.0.1", "2001:db8::5"), "2001:db8::");        /* a /64 is one */
    assert_int_equal(OWNER(&people, "2001:db8::5").n, 8);
}

/* And what is asked for afterwards is not asked for here: a good token, too, counts as its address until it was let in. */
static void who_is_not_in_memory_is_an_address(void **state)
{
    (void)state;
    is_address(OWNER(&people, "192.0.2.1", .bearer = token), "192.0.2.1");
    is_address(OWNER(&people, "192.0.2.1", .cookie = cookie), "192.0.2.1");
    let_in();
    char other[TOKEN_TEXT];
    OK(token_make("user", other, &e));
    is_address(OWNER(&people, "192.0.2.1", .bearer = other), "192.0.2.1");
    is_address(OWNER(&people, "192.0.2.1", .bearer = "flj_unknown"), "192.0.2.1");
    is_address(OWNER(&people, "192.0.2.1", .bearer = ""), "192.0.2.1");
    is_address(OWNER(&people, "10.0.0.1", "198.51.100.7", .cookie = "unknown"), "198.51.100.7");
    is_address(OWNER(&people, "10.0.0.1", "198.51.100.7", .bearer = other), "198.51.100.7");
}

static void who_was_let_in_is_the_tenant(void **state)
{
    (void)state;
    let_in();
    is_known(OWNER(&people, "192.0.2.1", .bearer = token), tenant.b);
    is_known(OWNER(&people, "10.0.0.1", "198.51.100.7", .bearer = token), tenant.b);
    is_known(OWNER(&people, "192.0.2.1", .cookie = cookie), tenant.b);
    is_address(OWNER(&people, "192.0.2.1", .bearer = token, .cookie = "unknown"), "192.0.2.1");     /* a browser is its cookie */
    struct session_authn *kept = pipeline.sessions;
    pipeline.sessions = NULL;                                                   /* a process without sign-in */
    is_address(OWNER(&people, "192.0.2.1", .cookie = cookie), "192.0.2.1");
    pipeline.sessions = kept;
}

/* A token that is bound to networks is its tenant's from there alone, as the proxy says. */
static void a_bound_token_is_known_from_its_network(void **state)
{
    (void)state;
    char bound[TOKEN_TEXT];
    struct arena *a = arena_new(4 << 20);
    struct principal *p = NULL;
    struct uuid id = token_give(tenant, user, "1 hour", "{}", bound);
    sql("UPDATE api_token SET cidrs = '{198.51.100.0/24}' WHERE token_id = '%s'", hex(id));
    OK(authn_token(pipeline.authn, str_c(bound), STR("198.51.100.7"), a, &p, &e));
    principal_unref(p);
    arena_free(a);
    is_known(OWNER(&people, "10.0.0.1", "198.51.100.7", .bearer = bound), tenant.b);
    is_address(OWNER(&people, "10.0.0.1", "203.0.113.9", .bearer = bound), "203.0.113.9");
}

static void a_machine_is_itself(void **state)
{
    (void)state;
    static const char print[] = "00112233445566778899aabbccddeeff" "ffffffffffffffffffffffffffffffff";
    static const uint8_t key[SHARE_KEY_MAX] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                                0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
    is_known(OWNER(&machines, "192.0.2.1", .fingerprint = print), key);
    is_known(OWNER(&machines, "198.51.100.7", .fingerprint = print), key);
    is_address(OWNER(&machines, "192.0.2.1"), "192.0.2.1");                     /* one that enrols has none yet */
    is_address(OWNER(&machines, "192.0.2.1", .fingerprint = "0011"), "192.0.2.1");
    is_address(OWNER(&people, "192.0.2.1", .fingerprint = print), "192.0.2.1");
}

#define EACH(t) cmocka_unit_test_setup_teardown(t, fresh, done)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(an_address_is_the_client_s), EACH(who_is_not_in_memory_is_an_address), EACH(who_was_let_in_is_the_tenant),
        EACH(a_bound_token_is_known_from_its_network), EACH(a_machine_is_itself),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
