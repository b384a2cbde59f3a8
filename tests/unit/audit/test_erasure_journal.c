/* SPDX-License-Identifier: Apache-2.0 */
/* test_erasure_journal.c - orders come back as they were given, void ones do not, and a line that was cut out shows. */
#include "tests/unit/audit/fixture.h"
#include "audit/erasure_journal.h"
#include "core/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[] = "/tmp/erasures_XXXXXX", path[64];
static struct err e;
static struct arena *memory;
static const struct uuid one = { { 1 } }, two = { { 2 } }, officer = { { 9 } };

static void add(struct uuid tenant, struct uuid user, int64_t ts_us, uint8_t line[SHA256_BYTES])
{
    struct erasure_order o = { tenant, user, officer, ts_us };
    assert_int_equal(erasure_journal_add(dir, &o, line, &e), ERR_OK);
}

static struct erasure_orders all(void)
{
    struct erasure_orders o;
    assert_int_equal(erasure_journal_read(dir, memory, &o, &e), ERR_OK);
    return o;
}

static void orders_come_back_once(void **state)
{
    uint8_t line[SHA256_BYTES], again[SHA256_BYTES];
    (void)state;
    assert_int_equal(all().n, 0);               /* no file yet */
    add(two, one, 10, line);
    add(one, two, 20, line);
    add(one, one, 30, line);
    add(one, two, 40, again);
    struct erasure_orders o = all();
    assert_int_equal(o.lines, 4);
    assert_int_equal(o.n, 3);
    assert_int_equal(o.faults, 0);
    assert_int_equal(erasure_orders_find(&o, one, two)->ts_us, 40);
    assert_memory_equal(&erasure_orders_find(&o, two, one)->by, &officer, sizeof officer);
    assert_null(erasure_orders_find(&o, two, two));
    assert_int_equal(erasure_journal_void(dir, again, &e), ERR_OK);
    o = all();
    assert_int_equal(erasure_orders_find(&o, one, two)->ts_us, 20);         /* the first order holds */
    assert_int_equal(erasure_journal_void(dir, line, &e), ERR_OK);
    o = all();
    assert_null(erasure_orders_find(&o, one, one));
    assert_int_equal(o.n, 2);
    assert_int_equal(o.faults, 0);
}

static void shred(struct uuid tenant, const char *zone, int64_t version, int64_t ts_us, uint8_t line[SHA256_BYTES])
{
    struct shred_order o = { .tenant_id = tenant, .by = officer, .version = version, .ts_us = ts_us };
    strcpy(o.zone, zone);
    assert_int_equal(erasure_journal_shred(dir, &o, line, &e), ERR_OK);
}

static void orders_about_keys_stand_beside_those_about_people(void **state)
{
    uint8_t line[SHA256_BYTES];
    (void)state;
    unlink(path);
    add(one, two, 10, line);
    shred(two, "ae-dxb-1", 3, 20, line);
    shred(one, "de-fra-1", 1, 30, line);
    shred(two, "ae-dxb-1", 4, 15, line);
    struct erasure_orders o = all();
    assert_true(o.lines == 4 && o.faults == 0 && o.n == 1 && o.nshreds == 2);
    const struct shred_order *s = erasure_shreds_find(&o, two, STR("ae-dxb-1"));
    assert_true(s && s->version == 4 && s->ts_us == 15);            /* the last line counts, whatever its time */
    assert_memory_equal(&s->by, &officer, sizeof officer);
    assert_null(erasure_shreds_find(&o, two, STR("de-fra-1")));
    assert_null(erasure_shreds_find(&o, two, STR("a-zone-with-a-name-that-is-longer-than-any")));
    assert_int_equal(erasure_journal_void(dir, line, &e), ERR_OK);
    o = all();
    s = erasure_shreds_find(&o, two, STR("ae-dxb-1"));
    assert_true(s && s->version == 3);
    assert_int_equal(erasure_journal_keep(dir, two, STR("ae-dxb-1"), 4, line, &e), ERR_OK);
    o = all();
    assert_non_null(erasure_shreds_find(&o, two, STR("ae-dxb-1")));     /* a version that the order does not have */
    assert_int_equal(erasure_journal_keep(dir, two, STR("ae-dxb-1"), 3, line, &e), ERR_OK);
    o = all();
    assert_true(o.faults == 0 && o.nshreds == 1 && !erasure_shreds_find(&o, two, STR("ae-dxb-1")));
    assert_int_equal(erasure_journal_void(dir, line, &e), ERR_OK);
    o = all();
    assert_int_equal(o.nshreds, 2);                     /* calling it off was rolled back */
    assert_int_equal(erasure_journal_keep(dir, two, STR("ae-dxb-1"), 1, line, &e), ERR_OK);
    shred(two, "ae-dxb-1", 5, 50, line);
    o = all();
    assert_int_equal(erasure_shreds_find(&o, two, STR("ae-dxb-1"))->version, 5);
    assert_int_equal(o.n, 1);
}

/* As it is in a file: lines, and what stands between them. */
static void write_file(const char *const *lines, size_t n)
{
    FILE *f = fopen(path, "w");
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s\n", lines[i]);
    fclose(f);
}

static void a_line_that_was_cut_out_or_changed_shows(void **state)
{
    uint8_t line[SHA256_BYTES];
    char text[4096], *lines[8];
    size_t n = 0;
    (void)state;
    unlink(path);
    for (int i = 0; i < 4; i++)
        add(one, (struct uuid){ { (uint8_t)(i + 1) } }, i, line);
    FILE *f = fopen(path, "r");
    while (n < 4 && fgets(text, sizeof text, f)) {
        text[strlen(text) - 1] = 0;
        lines[n++] = strdup(text);
    }
    fclose(f);
    write_file((const char *[]){ lines[0], lines[2], lines[3] }, 3);
    struct erasure_orders o = all();
    assert_int_equal(o.faults, 1);
    assert_int_equal(o.first_fault, 2);
    assert_int_equal(o.n, 3);                   /* what can be read still counts */
    snprintf(text, sizeof text, "%s", lines[1]);
    strstr(text, "\"ts_us\":1")[8] = '7';
    write_file((const char *[]){ lines[0], text, lines[2] }, 3);
    o = all();
    assert_int_equal(o.faults, 1);
    assert_int_equal(o.first_fault, 3);
    write_file((const char *[]){ lines[0], "{\"v\":1,\"act", "{\"v\":1,\"act", lines[1] }, 4);
    o = all();
    assert_int_equal(o.faults, 2);              /* two in a row were not torn; what comes behind them does not follow */
    write_file((const char *[]){ lines[0], "{\"v\":1,\"act" }, 2);
    add(one, (struct uuid){ { 5 } }, 5, line);
    o = all();
    assert_int_equal(o.faults, 0);              /* torn by a crash, and followed */
    assert_int_equal(o.n, 2);
    for (size_t i = 0; i < n; i++)
        free(lines[i]);
}

static void no_folder_is_an_error(void **state)
{
    uint8_t line[SHA256_BYTES];
    struct erasure_order o = { one, one, officer, 1 };
    (void)state;
    assert_int_equal(erasure_journal_add("/nowhere", &o, line, &e), ERR_IO);
}

static int setup(void **state)
{
    (void)state;
    memory = arena_new(64 << 20);
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/falaj-erasures.jsonl", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(memory);
    unlink(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(orders_come_back_once),
        cmocka_unit_test(orders_about_keys_stand_beside_those_about_people),
        cmocka_unit_test(a_line_that_was_cut_out_or_changed_shows), cmocka_unit_test(no_folder_is_an_error) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
