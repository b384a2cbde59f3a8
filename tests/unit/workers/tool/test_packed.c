/* SPDX-License-Identifier: Apache-2.0 */
/* test_packed.c - weights kept beside a model: the next start reads them and says the same, another model or another tier makes
 * them anew, and a file that is damaged is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include "../compute/onnx/onnx_kit.h"
#include "tool_kit.h"

enum { WIDE = 700, TALL = 600, BYTES = 8 << 20 };      /* 1.6 MiB of weights: less than a slab is not kept */

static void path_of(char path[200], const char *name)
{
    snprintf(path, 200, "%s/%s", kit_folder, name);
}

static void write_file(const char *name, const void *p, size_t n)
{
    char path[200];
    path_of(path, name);
    FILE *f = fopen(path, "we");
    assert_true(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

/* y = x · w, as a model file; and one row x. */
static void make_model_of(const char *name, float seed, float last)
{
    static float w[WIDE * TALL], x[WIDE];
    char words[200], head[] = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 700), }";
    struct buf g = BUF(BYTES), t = BUF(BYTES), m = BUF(BYTES), set = BUF(64), npy = BUF(BYTES);
    for (size_t i = 0; i < WIDE * TALL; i++)
        w[i] = sinf(seed + (float)i);
    w[WIDE * TALL - 1] += last;
    for (size_t i = 0; i < WIDE; i++)
        x[i] = cosf((float)i);
    pb_add_number(&t, 1, TALL);
    pb_add_number(&t, 1, WIDE);
    pb_add_number(&t, 2, ONNX_FLOAT);
    pb_add_text(&t, 8, "w");
    pb_add_bytes(&t, 9, w, sizeof w);
    kit_input(&g, "x", KIT_DIMS(-1, WIDE));
    struct buf attrs = BUF(256);
    kit_int(&attrs, "transB", 1);
    kit_node(&g, "Gemm", "x,w", "y", &attrs);
    kit_output(&g, "y");
    pb_add_message(&g, 5, &t);
    pb_add_number(&m, 1, 8);
    pb_add_message(&m, 7, &g);
    pb_add_number(&set, 2, 17);
    pb_add_message(&m, 8, &set);
    write_file("m.onnx", m.ptr, m.len);
    buf_add(&npy, head, sizeof head - 1);
    while (npy.len < 127)
        buf_add_char(&npy, ' ');
    buf_add_char(&npy, '\n');
    buf_add(&npy, x, sizeof x);
    write_file("x.npy", npy.ptr, npy.len);
    buf_release(&m);
    buf_release(&npy);
    snprintf(words, sizeof words, "convert $D/m.onnx $D/%s", name);
    kit_says(0, words, "bytes");
}

static void make_model(const char *name, float seed)
{
    make_model_of(name, seed, 0);
}

static char *answer(const char *more)
{
    char words[300];
    enum { SIZE = 1 << 16 };
    char *out = malloc(SIZE);
    snprintf(words, sizeof words, "infer $D/m.st --input $D/x.npy %s", more);
    if (kit_tool(out, SIZE, words))
        fail_msg("%s", out);
    return out;
}

static ino_t file_now(void)
{
    char path[200];
    struct stat st;
    path_of(path, "kept");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    return st.st_ino;
}

/* A byte of the kept file, `back` from its end or at `at` from its beginning, becomes another. */
static void spoil(long at, int whence)
{
    char path[200];
    path_of(path, "kept");
    FILE *f = fopen(path, "r+e");
    assert_true(f && !fseek(f, at, whence));
    int c = fgetc(f);
    assert_true(!fseek(f, at, whence) && fputc(c ^ 64, f) != EOF && !fclose(f));
}

static void test_the_next_start(void **st)
{
    (void)st;
    make_model("m.st", 1);
    char *want = answer(""), *first = answer("--packed $D/kept");
    ino_t made = file_now();
    char *second = answer("--packed $D/kept");
    assert_int_equal(file_now(), made);
    assert_string_equal(first, want);
    assert_string_equal(second, want);
    spoil(-2997, SEEK_END);                     /* the weights that lie there are what is computed with */
    char *other = answer("--packed $D/kept");
    assert_string_not_equal(other, want);
    assert_int_equal(file_now(), made);
    free(first), free(second), free(other);
    static const long heads[] = { 30, 4096, 4104, 8192 };        /* head, table, first weights */
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        ino_t was = file_now();
        spoil(heads[i], SEEK_SET);
        char *again = answer("--packed $D/kept");
        assert_string_equal(again, want);
        assert_int_not_equal(file_now(), was);
        free(again);
    }
    free(want);
}

static void test_another_model(void **st)
{
    (void)st;
    make_model("m.st", 1);
    free(answer("--packed $D/kept"));
    ino_t was = file_now();
    make_model("m.st", 2);
    char *want = answer(""), *got = answer("--packed $D/kept");
    assert_string_equal(got, want);
    assert_int_not_equal(file_now(), was);
    free(want), free(got);
    kit_says(0, "bench $D/m.st --seconds 0.01 --tier ref --packed $D/kept", "\"tier\":\"ref\"");
    want = answer(""), got = answer("--packed $D/kept");
    assert_string_equal(got, want);
    free(want), free(got);
}

/* As long, as old by its own word, and with the same first rows: only that it is another file tells. */
static void test_a_model_like_it(void **st)
{
    (void)st;
    char path[200];
    struct stat was, is;
    make_model("m.st", 1);
    path_of(path, "m.st");
    assert_int_equal(stat(path, &was), 0);
    free(answer("--packed $D/kept"));
    make_model_of("m.st", 1, 2);
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){ was.st_atim, was.st_mtim }, 0), 0);
    assert_int_equal(stat(path, &is), 0);
    assert_int_equal(is.st_size, was.st_size);
    char *want = answer(""), *got = answer("--packed $D/kept");
    assert_string_equal(got, want);
    free(want), free(got);
}

/* A slip of the hand costs no model, and what somebody else may write is not computed with. */
static void test_what_is_there_already(void **st)
{
    (void)st;
    char path[200];
    make_model("m.st", 1);
    char *want = answer("");
    kit_says(1, "infer $D/m.st --input $D/x.npy --packed $D/m.st", "something else than packed weights");
    kit_says(1, "infer $D/m.st --input $D/x.npy --packed $D", "something else than packed weights");
    char *still = answer("--packed $D/own");
    assert_string_equal(still, want);
    path_of(path, "own");
    assert_int_equal(chmod(path, 0620), 0);
    kit_says(1, "infer $D/m.st --input $D/x.npy --packed $D/own", "others may write it");
    free(want), free(still);
}

static void test_refused(void **st)
{
    (void)st;
    make_model("m.st", 1);
    kit_says(1, "infer $D/m.onnx --input $D/x.npy --packed $D/kept2", "no .onnx file");
    kit_says(1, "infer $D/m.st --input $D/x.npy --type int8 --packed $D/kept2", "no --type");
    kit_says(1, "bench $D/m.st --seconds 0.01 --packed $D/none/kept2", "packed weights cannot be written");
    kit_says(1, "infer $D/none --input $D/x.npy --packed $D/kept2", "none: it cannot be looked at");
    kit_says(0, "bench " KIT_MLP " --seconds 0.01", "\"us\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_next_start), cmocka_unit_test(test_another_model),
                                        cmocka_unit_test(test_a_model_like_it), cmocka_unit_test(test_what_is_there_already),
                                        cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, kit_begin, kit_end);
}
