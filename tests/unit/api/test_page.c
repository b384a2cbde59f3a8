/* SPDX-License-Identifier: Apache-2.0 */
/* test_page.c - a page token is good for the list, the filters and the tenant it was made for, and cannot be made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "api/api_int.h"

struct list_in { PAGE_IN; struct str state; };
SCHEMA_OF(list_in, "Which", PAGE_IN_FIELDS(list_in), FIELD(list_in, state, F_QUERY, .doc = "Filter"));
static const struct route row = { .in = &list_in_schema };
static const struct route_match match = { .row = &row };

static struct arena *arena;
static struct pipeline *pipeline;
static struct err e;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(64 << 20);
    pipeline = calloc(1, sizeof *pipeline);
    memset(pipeline->page_key, 7, sizeof pipeline->page_key);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    free(pipeline);
    return 0;
}

static struct flight *flight(int tenant, const char *path, const char *query, struct str token)
{
    struct flight *f = ARENA_NEW(arena, struct flight);
    struct http_request *r = ARENA_NEW(arena, struct http_request);
    struct list_in *in = ARENA_NEW(arena, struct list_in);
    r->path = str_c(path);
    r->query = str_c(query);
    in->page_token = token;
    f->pipeline = pipeline;
    f->match = &match;
    f->call.request = r;
    f->call.in = in;
    f->call.work.arena = arena;
    f->call.work.tenant_id.b[0] = (uint8_t)tenant;
    return f;
}

static enum errc open_(int tenant, const char *path, const char *query, struct str token, struct str *position)
{
    struct arena *kept = arena;
    arena = arena_new(1 << 20);
    struct flight *f = flight(tenant, path, query, token);
    enum errc rc = page_open(f, &e);
    struct str at = ((struct list_in *)f->call.in)->page_token;
    *position = at.ptr ? str_dup(kept, at) : STR_NULL;
    arena_free(arena);
    arena = kept;
    return rc;
}

#define PATH "/v1/jobs"
#define QUERY "state=RUNNING&page_size=10"
#define POSITION "0192aabbccddeeff0192aabbccddeeff"

static struct str sealed(void)
{
    return page_seal(flight(1, PATH, QUERY, STR_NULL), STR(POSITION));
}

static void it_opens_where_it_was_made(void **state)
{
    (void)state;
    struct str position;
    assert_int_equal(open_(1, PATH, QUERY, sealed(), &position), ERR_OK);
    assert_true(str_eq_c(position, POSITION));
    /* The size of the page and the token itself are no filters. */
    assert_int_equal(open_(1, PATH, "state=RUNNING&page_size=200", sealed(), &position), ERR_OK);
    assert_int_equal(open_(1, PATH, "page_token=abc&state=RUNNING", sealed(), &position), ERR_OK);
    assert_int_equal(open_(1, PATH, QUERY, STR_NULL, &position), ERR_OK);
    assert_null(position.ptr);
}

static void and_nowhere_else(void **state)
{
    (void)state;
    struct str position;
    assert_int_equal(open_(2, PATH, QUERY, sealed(), &position), ERR_PAGE_TOKEN);
    assert_string_equal(e.field, "/page_token");
    assert_int_equal(open_(1, "/v1/models", QUERY, sealed(), &position), ERR_PAGE_TOKEN);
    assert_int_equal(open_(1, PATH, "state=FAILED&page_size=10", sealed(), &position), ERR_PAGE_TOKEN);
    assert_int_equal(open_(1, PATH, NULL, sealed(), &position), ERR_PAGE_TOKEN);
    assert_int_equal(open_(1, PATH, QUERY "&kind=train", sealed(), &position), ERR_PAGE_TOKEN);
    struct str token = sealed();
    pipeline->page_key[0] ^= 1;                 /* another installation */
    assert_int_equal(open_(1, PATH, QUERY, token, &position), ERR_PAGE_TOKEN);
    pipeline->page_key[0] ^= 1;
}

static void no_character_of_it_can_be_changed(void **state)
{
    (void)state;
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    struct str token = sealed(), position;
    for (size_t i = 0; i < token.len; i++)
        for (size_t k = 0; k < 64; k++) {
            struct str bent = str_dup(arena, token);
            if (bent.ptr[i] == alphabet[k])
                continue;
            ((char *)(uintptr_t)bent.ptr)[i] = alphabet[k];
            if (open_(1, PATH, QUERY, bent, &position) == ERR_OK)
                fail_msg("character %zu as %c was taken", i, alphabet[k]);
        }
    for (size_t n = 0; n < token.len; n++)
        assert_int_equal(open_(1, PATH, QUERY, str_n(token.ptr, n), &position), ERR_PAGE_TOKEN);
    assert_int_equal(open_(1, PATH, QUERY, STR("!!!!"), &position), ERR_PAGE_TOKEN);
    assert_int_equal(open_(1, PATH, QUERY, str_n(memset(arena_alloc(arena, 512), 'A', 512), 512), &position), ERR_PAGE_TOKEN);
}

static void a_position_is_an_id(void **state)
{
    (void)state;
    struct uuid id, items[3];
    assert_int_equal(page_position_id(STR_NULL, &id, &e), ERR_OK);
    assert_true(uuid_is_nil(id));
    assert_int_equal(page_position_id(STR(POSITION), &id, &e), ERR_OK);
    assert_int_equal(id.b[15], 0xff);
    assert_int_equal(page_position_id(STR("'; DROP TABLE job"), &id, &e), ERR_PAGE_TOKEN);

    for (int i = 0; i < 3; i++)
        items[i] = uuid_v7(1000 + i);
    struct page_out page = { .items = { items, 3 } };
    page_cut_by_id(&page, arena, 3, sizeof *items, 0);
    assert_int_equal(page.items.n, 3);
    assert_null(page.next.ptr);                 /* exactly full is not more */
    page_cut_by_id(&page, arena, 2, sizeof *items, 0);
    assert_int_equal(page.items.n, 2);
    assert_int_equal(page_position_id(page.next, &id, &e), ERR_OK);
    assert_true(uuid_eq(id, items[1]));
}

static void a_position_is_a_number(void **state)
{
    (void)state;
    struct { char other; int64_t number; } items[3] = { { 'a', 7 }, { 'b', INT64_MAX }, { 'c', 1 } };
    struct page_out page = { .items = { items, 3 } };
    int64_t at = -1;
    assert_int_equal(page_position_number(STR_NULL, &at, &e), ERR_OK);
    assert_int_equal(at, 0);
    assert_int_equal(page_position_number(STR("0"), &at, &e), ERR_PAGE_TOKEN);
    assert_int_equal(page_position_number(STR("7x"), &at, &e), ERR_PAGE_TOKEN);
    page_cut_by_number(&page, arena, 3, sizeof *items, 8);
    assert_int_equal(page.items.n, 3);
    assert_null(page.next.ptr);
    page_cut_by_number(&page, arena, 2, sizeof *items, 8);
    assert_int_equal(page.items.n, 2);
    assert_int_equal(page_position_number(page.next, &at, &e), ERR_OK);
    assert_true(at == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_opens_where_it_was_made), cmocka_unit_test(and_nowhere_else),
                                        cmocka_unit_test(no_character_of_it_can_be_changed), cmocka_unit_test(a_position_is_an_id),
                                        cmocka_unit_test(a_position_is_a_number) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
