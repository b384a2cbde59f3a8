/* SPDX-License-Identifier: Apache-2.0 */
/* test_tar.c - entries as tar(1) and others write them, and archives in which one thing is wrong. */
#include "image_kit.h"

/* What is in it, a line for each entry; an error's words behind. */
static const char *list(struct str archive, size_t piece)
{
    static char text[8192];
    static struct tar t;
    struct bytes_at b = { archive, 0, piece };
    struct tar_entry en;
    struct err e = { 0 };
    bool more = true;
    size_t n = 0;
    tar_begin(&t, (struct source){ read_bytes, &b });
    *text = '\0';
    while (tar_next(&t, &en, &more, &e) == ERR_OK && more)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d %.60s>%s %o %llu\n", en.type, en.name.ptr, en.link.ptr, en.mode,
                              (unsigned long long)en.size);
    if (e.code)
        snprintf(text + n, sizeof text - n, "%s", e.msg);
    return text;
}

static void entries_are_read_in_any_pieces(void **state)
{
    (void)state;
    struct buf b = BUF(1 << 20);
    char name[300], record[400];
    memset(name, 'n', 250);
    name[250] = '\0';
    tar_text(&b, "a", "content");
    tar_put(&b, '5', "d/", "", 0755, "", 0);
    tar_put(&b, '2', "l", "a", 0777, "", 0);
    tar_put(&b, '1', "h", "a", 0644, "", 0);
    tar_put(&b, 'L', "././@LongLink", "", 0, name, 251);
    tar_text(&b, "short", "x");
    snprintf(record, sizeof record, "265 path=%s\n13 size=0003\n", name);
    tar_put(&b, 'x', "pax", "", 0, record, strlen(record));
    tar_text(&b, "short", "xyz");
    tar_put(&b, 'g', "global", "", 0, "19 comment=nothing\n", 19);
    tar_put(&b, '0', "s", "", 04755, "", 0);
    tar_end(&b);
    char want[1000];
    snprintf(want, sizeof want, "0 a> 644 7\n3 d/> 755 0\n2 l>a 777 0\n1 h>a 644 0\n0 %.60s> 644 1\n0 %.60s> 644 3\n0 s> 4755 "
        "0\n", name, name);
    /* the length in the pax record counts itself: "265 path=" and the name and its end are not 265, which is refused */
    assert_non_null(strstr(list(buf_str(&b), 512), "has a pax record of another length than it says"));
    buf_clear(&b);
    tar_text(&b, "a", "content");
    tar_put(&b, '5', "d/", "", 0755, "", 0);
    tar_put(&b, '2', "l", "a", 0777, "", 0);
    tar_put(&b, '1', "h", "a", 0644, "", 0);
    tar_put(&b, 'L', "././@LongLink", "", 0, name, 251);
    tar_text(&b, "short", "x");
    snprintf(record, sizeof record, "260 path=%s\n13 size=0003\n", name);
    tar_put(&b, 'x', "pax", "", 0, record, strlen(record));
    tar_text(&b, "short", "xyz");
    tar_put(&b, 'g', "global", "", 0, "19 comment=nothing\n", 19);
    tar_put(&b, '0', "s", "", 04755, "", 0);
    tar_end(&b);
    for (size_t piece = 1; piece < 2000; piece = piece * 3 + 1)
        assert_string_equal(list(buf_str(&b), piece), want);
    buf_release(&b);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const struct { const char *why; char type; const char *content; size_t at; char byte; size_t cut; } rows[] = {
        { "has a wrong check sum", '0', "x", 3, 'x', 0 }, { "is cut off", '0', "x", 0, 0, 100 },
            { "is cut off", '0', "x", 0, 0, 1000 },
        { "is of a type that is not read", 'S', "x", 0, 0, 0 }, { "is of a type that is not read", 'V', "x", 0, 0, 0 },
        { "has a pax record without '='", 'x', "8 noneq\n", 0, 0, 0 }, { "of another length", 'x', "99 path=a\n", 0, 0, 0 },
        { "of another length", 'x', "10 path=a", 0, 0, 0 }, { "has a size that is no number", 'x', "10 size=a\n", 0, 0, 0 },
        { "is a sparse file", 'x', "22 GNU.sparse.major=1\n", 0, 0, 0 }, { "is not there, though it was told of", 'L', "name", 0,
            0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b = BUF(1 << 16);
        tar_put(&b, rows[i].type, "name", "", 0644, rows[i].content, strlen(rows[i].content));
        if (rows[i].byte)
            b.ptr[rows[i].at] = rows[i].byte;
        tar_end(&b);
        if (rows[i].cut)
            b.len = rows[i].cut;
        if (!strstr(list(buf_str(&b), 512), rows[i].why))
            fail_msg("%zu: %s is not %s", i, list(buf_str(&b), 512), rows[i].why);
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(entries_are_read_in_any_pieces),
        cmocka_unit_test(what_is_wrong_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
