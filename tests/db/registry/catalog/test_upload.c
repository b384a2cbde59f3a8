/* SPDX-License-Identifier: Apache-2.0 */
/* test_upload.c - parts become the version that one body would have made; what is cut, repeated, wrong, cancelled or left alone leaves
 * nothing behind; nobody else sees any of it. */
#include "tests/db/registry/catalog/upload_fixture.h"
#include <pthread.h>
#include "registry/vault/orphan.h"
#include "core/crypto/stream.h"

enum { NONE_IN_A_ROW = 20 };

static void test_parts_make_the_version(void **state)
{
    (void)state;
    struct dataset_version one, many;
    struct work w = begin(0);
    OK(add_version(&w, sets[0].dataset_id, STR_NULL, DATA_CSV, str_c(CSV), &one, &e));
    end(&w);
    int64_t bytes = used(0, "stored_bytes"), objects = used(0, "objects");
    int files = blobs();
    size_t len = sizeof CSV - 1;
    for (size_t step = 1; step <= len; step = step * 3 + 1) {
        struct upload u = start(0, (int64_t)len, NULL), now;
        for (size_t at = 0; at < len; at += step) {
            size_t n = len - at < step ? len - at : step;
            OK(send(0, &u, (int64_t)at, CSV + at, n, &now));
            assert_int_equal(now.offset, at + n);
        }
        OK(complete(0, &u, &many));
        assert_true(str_eq(one.sha256, many.sha256));
        assert_int_equal(many.row_count, one.row_count);
        assert_int_equal(many.column_count, one.column_count);
        objects++;
        bytes += (int64_t)stream_sealed_size(len);
        files++;
        assert_int_equal(used(0, "objects"), objects);          /* one object more each time: the parts are booked off */
        assert_int_equal(used(0, "stored_bytes"), bytes);
        assert_int_equal(blobs(), files);
        struct work w2 = begin(0);
        OK(upload_get(&w2, u.upload_id, &now, &e));             /* an answer that was lost can be asked for */
        assert_int_equal(now.version, many.version);
        end(&w2);
        assert_int_equal(complete(0, &u, &many), ERR_CONFLICT);
        assert_int_equal(send(0, &u, 0, CSV, 1, &now), ERR_CONFLICT);
        assert_int_equal(cancel(0, &u), ERR_CONFLICT);
    }
    sql_count("upload_part", 0);
    sql_count("dek d JOIN object o USING (tenant_id, object_id) WHERE o.kind = 'part' AND (o.state <> 'DELETED' OR d.wrapped IS NOT NULL)", 0);
}

static void test_order(void **state)
{
    (void)state;
    struct upload u = start(0, 20, NULL), now;
    struct dataset_version v;
    int64_t objects = used(0, "objects");
    int files = blobs();
    OK(send(0, &u, 0, CSV, 8, &now));
    assert_int_equal(send(0, &u, 9, CSV + 9, 4, &now), ERR_CONFLICT);
    assert_non_null(strstr(e.msg, "byte 8"));
    OK(send(0, &u, 0, CSV, 8, &now));                           /* the same again */
    assert_int_equal(now.offset, 8);
    assert_int_equal(send(0, &u, 0, "xxxxxxxx", 8, &now), ERR_CONFLICT);
    assert_int_equal(send(0, &u, 0, CSV, 7, &now), ERR_CONFLICT);
    assert_int_equal(send(0, &u, 8, CSV, 13, &now), ERR_CONFLICT);  /* more than was announced */
    assert_string_equal(e.msg, "The part has 13 bytes, but only 12 of the announced 20 are missing");
    assert_int_equal(send(0, &u, 8, CSV, 0, &now), ERR_INVALID);
    assert_int_equal(complete(0, &u, &v), ERR_CONFLICT);
    assert_int_equal(used(0, "objects"), objects + 1);
    assert_int_equal(blobs(), files + 1);
    char *large = calloc(1, UPLOAD_PART_MAX + 1);
    struct upload big = start(0, UPLOAD_PART_MAX + 1, NULL);
    assert_int_equal(send(0, &big, 0, large, UPLOAD_PART_MAX + 1, &now), ERR_TOO_LARGE);
    free(large);
    OK(cancel(0, &big));
    OK(cancel(0, &u));
    assert_int_equal(used(0, "objects"), objects);
    assert_int_equal(blobs(), files);
    assert_int_equal(cancel(0, &u), ERR_NOT_FOUND);
}

struct late_part {
    struct uuid upload_id;
    enum errc rc;
    _Atomic bool done;
};

static void *send_late(void *arg)
{
    struct late_part *l = arg;
    struct arena *own = arena_new(16 << 20);
    struct err why;
    struct upload now;
    struct work w = { .app = &app, .arena = own, .principal = people[0], .tenant_id = people[0]->tenant_id, .now_us = clock_wall_us(&clock_system) };
    const struct upload_piece *piece;
    l->rc = upload_part_seal(&w, l->upload_id, 0, STR("a,b,c"), &piece, &why);
    if (l->rc == ERR_OK) {
        l->rc = RUN_WRITE(&w, upload_part_take(&w, piece, &now, &why), &why);
        if (l->rc != ERR_OK)
            upload_part_drop(&w, piece);
    }
    arena_free(own);
    l->done = true;
    return NULL;
}

/* Two parts for the same place at once: the first is not committed yet when the second finds the place free. One is taken, the other
 * leaves nothing. */
static void test_race(void **state)
{
    (void)state;
    struct upload u = start(0, 20, NULL), now;
    struct late_part late = { u.upload_id, ERR_OK, false };
    int files = blobs(), seen;
    int64_t objects = used(0, "objects");
    pthread_t thread;
    const struct upload_piece *piece;
    struct work first = begin(0), sealing = first;
    sealing.tx = NULL;
    OK(upload_part_seal(&sealing, u.upload_id, 0, str_n(CSV, 10), &piece, &e));
    OK(upload_part_take(&first, piece, &now, &e));
    assert_int_equal(pthread_create(&thread, NULL, send_late, &late), 0);
    do
        seen = blobs();
    while (seen != files + 2 && !late.done);
    assert_int_equal(seen, files + 2);
    end(&first);
    pthread_join(thread, NULL);
    assert_int_equal(late.rc, ERR_CONFLICT);
    assert_int_equal(blobs(), files + 1);
    assert_int_equal(used(0, "objects"), objects + 1);
    OK(cancel(0, &u));
}

struct sealer {
    struct uuid upload_id;              /* nil: the content as one body */
    _Atomic bool has_ended;
};

static void *seal_thread(void *arg)
{
    struct sealer *s = arg;
    struct err why;
    const struct upload_piece *piece;
    const struct dataset_content *content;
    struct work w = { .app = &app, .arena = arena_new(16 << 20), .principal = people[0], .tenant_id = people[0]->tenant_id,
                      .now_us = clock_wall_us(&clock_system) };
    if (uuid_is_nil(s->upload_id)) {
        if (dataset_content_seal(&w, sets[0].dataset_id, STR_NULL, DATA_CSV, str_c(CSV), &content, &why) == ERR_OK)
            dataset_content_drop(&w, content);
    } else if (upload_part_seal(&w, s->upload_id, 0, str_n(CSV, 10), &piece, &why) == ERR_OK) {
        upload_part_drop(&w, piece);
    }
    arena_free(w.arena);
    s->has_ended = true;
    return NULL;
}

/* A keyd that stands still holds up who uploads and no transaction, by either door: none is seen many times in a row while the
 * door has not ended. One that waited for keyd would be there until it gave up. */
static void test_no_transaction_waits_for_a_seal(void **state)
{
    (void)state;
    struct upload u = start(0, 20, NULL);
    struct sealer doors[] = { { .upload_id = UUID_NIL }, { .upload_id = u.upload_id } };
    int files = blobs();
    for (size_t i = 0; i < 2; i++) {
        struct sealer *s = &doors[i];
        pthread_t t;
        int in_a_row = 0;
        keyd_stop();
        assert_int_equal(pthread_create(&t, NULL, seal_thread, s), 0);
        while (in_a_row < NONE_IN_A_ROW && !s->has_ended)
            in_a_row = number("SELECT count(*) FROM pg_stat_activity WHERE usename = 'falaj_app'"
                              " AND state LIKE 'idle in transaction%'") ? 0 : in_a_row + 1;
        kill(keyd, SIGCONT);
        pthread_join(t, NULL);
        assert_int_equal(in_a_row, NONE_IN_A_ROW);
    }
    assert_int_equal(blobs(), files);
    OK(cancel(0, &u));
}

static void test_other_tenant(void **state)
{
    (void)state;
    struct upload u = start(0, 20, NULL), now;
    struct dataset_version v;
    struct slice list;
    OK(send(0, &u, 0, CSV, 10, &now));
    assert_int_equal(send(1, &u, 10, CSV, 10, &now), ERR_NOT_FOUND);
    assert_int_equal(complete(1, &u, &v), ERR_NOT_FOUND);
    assert_int_equal(cancel(1, &u), ERR_NOT_FOUND);
    struct work w = begin(1);
    struct upload_new theirs = { sets[0].dataset_id, 10, STR_NULL, STR_NULL };
    assert_int_equal(upload_get(&w, u.upload_id, &now, &e), ERR_NOT_FOUND);
    assert_int_equal(upload_begin(&w, &theirs, &now, &e), ERR_NOT_FOUND);
    OK(upload_list(&w, UUID_NIL, UUID_NIL, 10, &list, &e));
    assert_int_equal(list.n, 0);
    end(&w);
    struct uuid own = people[0]->user_id;
    people[0]->user_id = uuid_v7(77);                           /* a colleague */
    w = begin(0);
    assert_int_equal(upload_get(&w, u.upload_id, &now, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
    people[0]->user_id = own;
    w = begin(0);
    OK(upload_list(&w, sets[0].dataset_id, UUID_NIL, 10, &list, &e));
    assert_int_equal(list.n, 1);
    assert_int_equal(((struct upload *)list.items)->offset, 10);
    end(&w);
    OK(cancel(0, &u));
}

static void test_bounds(void **state)
{
    (void)state;
    struct upload u[UPLOADS_OF_USER], one;
    struct work w = begin(1);
    struct upload_new large = { sets[1].dataset_id, 9000000, STR_NULL, STR_NULL }, small = { sets[1].dataset_id, 10, STR_NULL, STR_NULL };
    assert_int_equal(upload_begin(&w, &large, &one, &e), ERR_QUOTA);
    db_rollback(w.tx);
    for (int i = 0; i < UPLOADS_OF_USER; i++)
        u[i] = start(1, 10, NULL);
    w = begin(1);
    assert_int_equal(upload_begin(&w, &small, &one, &e), ERR_LIMIT);
    db_rollback(w.tx);
    OK(cancel(1, &u[0]));
    u[0] = start(1, 10, NULL);
    for (int i = 0; i < UPLOADS_OF_USER; i++)
        OK(cancel(1, &u[i]));
    /* What is announced fits, what is stored meanwhile does not. */
    char *plain = calloc(1, 4000000);
    memset(plain, '1', 4000000);
    struct upload a = start(1, 7000000, NULL), b = start(1, 7000000, NULL);
    OK(send(1, &a, 0, plain, 4000000, &one));
    OK(send(1, &b, 0, plain, 3500000, &one));
    assert_int_equal(send(1, &a, 4000000, plain, 3000000, &one), ERR_QUOTA);
    free(plain);
    OK(cancel(1, &a));
    OK(cancel(1, &b));
    assert_int_equal(used(1, "stored_bytes"), 0);
    assert_int_equal(used(1, "objects"), 0);
}

static void test_expiry(void **state)
{
    (void)state;
    struct upload u = start(0, 20, NULL), kept = start(0, 20, NULL), now;
    struct dataset_version v;
    int files = blobs();
    int64_t objects = used(0, "objects"), ended = 0, removed = 0;
    char sql[256], id[UUID_TEXT];
    OK(send(0, &u, 0, CSV, 10, &now));
    uuid_text(u.upload_id, id);
    snprintf(sql, sizeof sql, "UPDATE upload SET expires_at = now() - interval '1 second' WHERE upload_id = '%s' OR state IN ('COMPLETED', 'REFUSED')", id);
    pg_harness_exec(pg, DB, sql);
    assert_int_equal(send(0, &u, 10, CSV + 10, 10, &now), ERR_NOT_FOUND);
    assert_int_equal(complete(0, &u, &v), ERR_NOT_FOUND);
    OK(upload_sweep(&app, arena, &ended, &e));
    assert_true(ended > 1);                                     /* this one, and the records of completed ones */
    sql_count("upload", 1);
    assert_int_equal(used(0, "objects"), objects);
    assert_int_equal(blobs(), files);
    OK(cancel(0, &kept));
    OK(orphan_sweep(&app, arena, -5, &removed, &e));
    assert_int_equal(removed, 0);
}

/* The process dies between the commit that ends the parts and the removal of their blobs. */
static void test_torn_end(void **state)
{
    (void)state;
    struct upload u = start(0, 20, NULL), now;
    int files = blobs();
    int64_t removed = 0;
    char sql[512], id[UUID_TEXT];
    OK(send(0, &u, 0, CSV, 10, &now));
    uuid_text(u.upload_id, id);
    snprintf(sql, sizeof sql, "WITH p AS (DELETE FROM upload_part WHERE upload_id = '%s' RETURNING object_id)"
             " UPDATE object SET state = 'DELETED' FROM p WHERE object.object_id = p.object_id", id);
    pg_harness_exec(pg, DB, sql);
    OK(orphan_sweep(&app, arena, -5, &removed, &e));
    assert_int_equal(removed, 1);
    assert_int_equal(blobs(), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_make_the_version), cmocka_unit_test(test_order), cmocka_unit_test(test_race),
        cmocka_unit_test(test_no_transaction_waits_for_a_seal),
        cmocka_unit_test(test_other_tenant), cmocka_unit_test(test_bounds), cmocka_unit_test(test_expiry), cmocka_unit_test(test_torn_end),
    };
    return cmocka_run_group_tests(tests, setup_sets, teardown);
}
