/* SPDX-License-Identifier: Apache-2.0 */
/* test_s3_upload.c - an upload is nothing until its end, can be given up, and an end whose answer was lost is an end. */
#include "s3_kit.h"

enum { PART = S3_PART_MIN };

static void parts_become_an_object_at_the_end(void **state)
{
    (void)state;
    struct s3 *s = bucket();
    char *part = calloc(1, PART), id[S3_UPLOAD_ID], (*etags)[S3_ETAG] = calloc(2, sizeof *etags);
    struct s3_entry *list = calloc(S3_LIST_MAX, sizeof *list);
    uint64_t size;
    size_t n;
    for (int lost = 0; lost < 2; lost++) {
        OK(s3_upload_begin(s, "whole", id, &e));
        OK(s3_upload_part(s, "whole", id, 1, str_n(part, PART), etags[0], &e));
        OK(s3_upload_part(s, "whole", id, 1, str_n(part, PART), etags[0], &e));     /* again */
        OK(s3_upload_part(s, "whole", id, 2, STR("the last one is short"), etags[1], &e));
        assert_int_equal(s3_size(s, "whole", &size, &e), ERR_NOT_FOUND);
        OK(s3_uploads(s, "who", list, &n, &e));
        assert_int_equal(n, 1);
        assert_string_equal(list[0].key, "whole");
        assert_string_equal(list[0].upload_id, id);
        if (lost)
            order("method=POST&times=1&cut=after");
        OK(s3_upload_end(s, "whole", id, etags, 2, &e));
        OK(s3_size(s, "whole", &size, &e));
        assert_int_equal(size, PART + 21);
        OK(s3_delete(s, "whole", &e));
    }
    OK(s3_upload_begin(s, "whole", id, &e));
    OK(s3_upload_part(s, "whole", id, 1, STR("short"), etags[0], &e));
    OK(s3_upload_part(s, "whole", id, 2, STR("short"), etags[1], &e));
    assert_int_equal(s3_upload_end(s, "whole", id, etags, 2, &e), ERR_IO);
    assert_non_null(strstr(e.detail, "EntityTooSmall"));
    OK(s3_upload_abort(s, "whole", id, &e));
    OK(s3_upload_abort(s, "whole", id, &e));
    assert_int_equal(s3_upload_end(s, "whole", id, etags, 2, &e), ERR_NOT_FOUND);
    OK(s3_uploads(s, "", list, &n, &e));
    assert_int_equal(n, 0);
    free(list), free(etags), free(part);
    s3_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(parts_become_an_object_at_the_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
