/* SPDX-License-Identifier: Apache-2.0 */
/* test_plain.c - the plaintext of an input: what was read is gone while the rest is there, all of it is gone at the end, and what
 * does not fit in the lease's memory is refused before it is read. */
#include "lease_kit.h"

#include <sys/mman.h>
#include "workers/lease/plain.h"

enum { BYTES = 7 * 1000 * 1000 + 17, READ = 6 * 1000 * 1000, SPARE = 4 << 20 };

static struct child child;
static struct kit_store store;

static void begin(int64_t memory_bytes)
{
    static char content[BYTES];
    FILE *f = tmpfile();
    memset(&child, 0, sizeof child);
    memset(content, 5, sizeof content);
    kit_put(&store, "model", content, sizeof content);
    assert_non_null(f);
    assert_int_equal(fwrite(store.sealed.ptr, 1, store.sealed.len, f), store.sealed.len);
    rewind(f);
    child.grant.lease.tenant_id = kit_id(200);
    child.grant.memory_bytes = memory_bytes;
    child.n_inputs = 1;
    child.inputs[0] = (struct child_input){
        .about = { .name = STR("model"), .kind = STR("model"), .sha256 = str_c(store.in_sha), .object_id = kit_id(50),
                   .version = 1, .size_bytes = BYTES },
        .fd = dup(fileno(f)), .key = { kit_id(51), store.in_key } };
    fclose(f);
}

static void end(void)
{
    buf_release(&store.sealed);
    buf_release(&store.uploaded);
}

static size_t count(const struct buf *b, char what)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++)
        n += b->ptr[i] == what;
    return n;
}

static void what_was_read_is_gone(void **state)
{
    (void)state;
    struct plain p;
    struct err e = { 0 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    begin(0);
    if (plain_open(&child, 0, &p, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(count(&p.bytes, 5), BYTES);
    for (size_t at = 0; at < READ; at += READ / 100)
        p.once.done(p.once.ctx, p.bytes.ptr + 100 + at, READ / 100);
    assert_in_range(count(&p.bytes, 0), READ - SPARE - 2 * page, READ - SPARE);
    assert_int_equal(count(&p.bytes, 0) + count(&p.bytes, 5), BYTES);
    p.once.done(p.once.ctx, "elsewhere", 9);
    assert_int_equal(count(&p.bytes, 0) + count(&p.bytes, 5), BYTES);
    p.once.done(p.once.ctx, p.bytes.ptr + BYTES - 10, 20);          /* elsewhere, too */
    assert_int_equal(count(&p.bytes, 0) + count(&p.bytes, 5), BYTES);
    p.once.done(p.once.ctx, p.bytes.ptr + BYTES - 10000, 10000);     /* another place: what waited is gone */
    assert_in_range(count(&p.bytes, 0), READ - 2 * page, READ);
    plain_close(&p);
    plain_close(&p);
    end();
}

/* Pages of what was read are those of what is made of it, and are not wiped under it. */
static void pages_are_used_again(void **state)
{
    (void)state;
    enum { SLAB = 1 << 20, SLABS = 6 };
    struct plain p;
    struct err e = { 0 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *made = mmap(NULL, SLABS * SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(made != MAP_FAILED);
    begin(0);
    if (plain_open(&child, 0, &p, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    for (size_t i = 0; i < SLABS; i++) {
        p.once.bring(p.once.ctx, made + i * SLAB, SLAB);
        size_t brought = 0;
        for (size_t k = 0; k < SLAB; k++)
            brought += made[i * SLAB + k] == 5;
        assert_in_range(brought, i ? SLAB - 2 * page : 0, i ? SLAB : 0);
        memset(made + i * SLAB, 6, SLAB);
        p.once.done(p.once.ctx, p.bytes.ptr + 100 + i * SLAB, SLAB);
    }
    assert_in_range(count(&p.bytes, 0), (SLABS - 1) * SLAB - 2 * page, (SLABS - 1) * SLAB);
    assert_int_equal(count(&p.bytes, 6), 0);
    plain_close(&p);
    for (size_t i = 0; i < SLABS * SLAB; i++)
        assert_int_equal(made[i], 6);
    munmap(made, SLABS * SLAB);
    end();
}

static void a_model_larger_than_the_lease_is_refused(void **state)
{
    (void)state;
    struct plain p;
    struct err e = { 0 };
    begin(2 << 20);
    assert_int_equal(plain_open(&child, 0, &p, &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "the model has 6 MiB, which do not fit in the 2 MiB of memory that this lease has"));
    assert_true(child.inputs[0].fd >= 0);
    close(child.inputs[0].fd);
    plain_close(&p);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_was_read_is_gone), cmocka_unit_test(pages_are_used_again),
                                        cmocka_unit_test(a_model_larger_than_the_lease_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
