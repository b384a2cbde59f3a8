/* SPDX-License-Identifier: Apache-2.0 */
/* test_versioned.c - the rows of each kind are as versioned.h says: whoever reads them through it finds id, number and object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "registry/catalog/dataset.h"
#include "registry/catalog/model.h"
#include "registry/catalog/versioned.h"

static void begins_with_its_id(const struct versioned *k, const struct schema *row)
{
    assert_int_equal(row->fields[0].offset, 0);
    assert_int_equal(row->fields[0].type, FT_UUID);
    assert_string_equal(row->fields[0].prefix, k->prefix);
    assert_memory_equal(row->fields[0].name, k->name, strlen(k->name));
}

static void check(const struct versioned *k)
{
    begins_with_its_id(k, k->get->row);
    begins_with_its_id(k, k->version_get->row);
    assert_ptr_equal(k->get->row, k->list->row);
    assert_ptr_equal(k->version_get->row, k->version_list->row);
}

static void rows_are_of_one_shape(void **state)
{
    (void)state;
    check(&versioned_dataset);
    check(&versioned_model);
    const struct dataset_version d = { .version = 7, .object_id = { { 1 } } };
    const struct model_version m = { .version = 9, .object_id = { { 2 } }, .job_id = { { 3 } } };
    assert_int_equal(versioned_number(&versioned_dataset, &d), 7);
    assert_int_equal(versioned_number(&versioned_model, &m), 9);
    assert_true(uuid_eq(versioned_object(&versioned_dataset, &d), d.object_id));
    assert_true(uuid_eq(versioned_object(&versioned_model, &m), m.object_id));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows_are_of_one_shape) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
