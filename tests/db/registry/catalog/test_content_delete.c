/* SPDX-License-Identifier: Apache-2.0 */
/* test_content_delete.c - a data set goes with all versions: no row, no key, no blob, and the quota as before; another tenant's
 * and one that an
 * upload uses, stay as they are. A deletion that is rolled back deletes nothing. */
#include "tests/db/registry/fixture.h"
#include "registry/catalog/content_delete.h"
#include "registry/catalog/dataset.h"
#include "registry/catalog/upload.h"

static const struct dataset_new REEDS = { { "reeds", 5 }, { "", 0 }, 1, { "label", 5 }, 2 };
static const struct dataset_new OTHERS = { { "others", 6 }, { "", 0 }, 1, { "label", 5 }, 2 };

static struct dataset make(const struct dataset_new *in, int versions, struct dataset_version *ret)
{
    struct dataset d;
    struct work w = begin(0);
    OK(dataset_create(&w, in, &d, &e));
    end(&w);
    for (int i = 0; i < versions; i++) {
        w = begin(0);
        OK(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,4,1\n"), &ret[i], &e));
        end(&w);
    }
    return d;
}

static bool has_blob(struct uuid object)
{
    char path[256];
    blob_path(people[0]->tenant_id, object, path);
    return access(path, F_OK) == 0;
}

static void test_delete(void **state)
{
    (void)state;
    struct dataset_version v[3], other;
    struct content_deleted gone;
    struct object o;
    struct object_reader *r = NULL;
    int64_t objects = used(0, "objects"), bytes = used(0, "stored_bytes");
    struct dataset d = make(&REEDS, 3, v), stays = make(&OTHERS, 1, &other), got;
    struct work w = begin(1);
    assert_int_equal(content_delete(&w, &versioned_dataset, d.dataset_id, &gone, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
    w = begin(0);
    OK(content_delete(&w, &versioned_dataset, d.dataset_id, &gone, &e));
    db_rollback(w.tx);
    w = begin(0);
    OK(dataset_get(&w, d.dataset_id, &got, &e));
    OK(object_open(&w, v[2].object_id, "dataset", &r, &e));
    object_reader_freep(&r);
    OK(content_delete(&w, &versioned_dataset, d.dataset_id, &gone, &e));
    assert_true(has_blob(v[0].object_id));              /* until the commit */
    end(&w);
    assert_int_equal(gone.objects, 3);
    w = begin(0);
    assert_int_equal(dataset_get(&w, d.dataset_id, &got, &e), ERR_NOT_FOUND);
    end(&w);
    for (int i = 0; i < 3; i++) {
        assert_false(has_blob(v[i].object_id));
        w = begin(0);
        assert_int_equal(object_open(&w, v[i].object_id, "dataset", &r, &e), ERR_NOT_FOUND);
        end(&w);
    }
    w = begin(0);
    OK(dataset_get(&w, stays.dataset_id, &got, &e));
    OK(object_open(&w, other.object_id, "dataset", &r, &e));
    object_reader_freep(&r);
    OK(object_get(&w, other.object_id, &o, &e));
    end(&w);
    assert_int_equal(used(0, "objects"), objects + 1);
    assert_int_equal(used(0, "stored_bytes"), bytes + o.stored_bytes);
    make(&REEDS, 0, v);                                 /* the name is free */
}

static void test_what_uses_it_is_named(void **state)
{
    (void)state;
    static const struct dataset_new BUSY = { { "busy", 4 }, { "", 0 }, 1, { "label", 5 }, 2 };
    struct dataset_version v;
    struct upload u;
    struct content_deleted gone;
    struct dataset d = make(&BUSY, 1, &v);
    const struct upload_new in = { .dataset_id = d.dataset_id, .size_bytes = 100 };
    struct work w = begin(0);
    OK(upload_begin(&w, &in, &u, &e));
    end(&w);
    w = begin(0);
    assert_int_equal(content_delete(&w, &versioned_dataset, d.dataset_id, &gone, &e), ERR_CONFLICT);
    char hex[UUID_HEX];
    hex_encode(u.upload_id.b, 16, hex);
    assert_non_null(strstr(e.msg, hex));
    db_rollback(w.tx);
    assert_true(has_blob(v.object_id));
    w = begin(0);
    OK(upload_cancel(&w, u.upload_id, &u, &e));
    end(&w);
    w = begin(0);
    OK(content_delete(&w, &versioned_dataset, d.dataset_id, &gone, &e));
    end(&w);
    assert_false(has_blob(v.object_id));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_delete), cmocka_unit_test(test_what_uses_it_is_named) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
