/* SPDX-License-Identifier: Apache-2.0 */
/* test_rank_bytes.c - what a worker carries is the whole program, it needs nothing of an image, and it runs. */
#include "../rank_kit.h"

#include <elf.h>
#include <stdbool.h>

/* Any image may lack a loader and a library. */
static void it_is_static(void **state)
{
    (void)state;
    const struct str b = rank_bytes();
    Elf64_Ehdr head;
    bool is_loaded = false;
    assert_true(b.len > sizeof head);
    memcpy(&head, b.ptr, sizeof head);
    assert_memory_equal(head.e_ident, ELFMAG, SELFMAG);
    assert_int_equal(head.e_ident[EI_CLASS], ELFCLASS64);
    assert_int_equal(head.e_type, ET_EXEC);
    assert_int_equal(head.e_phentsize, sizeof(Elf64_Phdr));
    assert_true(head.e_phnum > 0 && head.e_phoff + head.e_phnum * sizeof(Elf64_Phdr) <= b.len);
    for (size_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, b.ptr + head.e_phoff + i * sizeof part, sizeof part);
        assert_int_not_equal(part.p_type, PT_INTERP);
        assert_int_not_equal(part.p_type, PT_DYNAMIC);
        assert_true(part.p_offset + part.p_filesz <= b.len);        /* nothing was cut off */
        is_loaded |= part.p_type == PT_LOAD;
    }
    assert_true(is_loaded);
}

static void it_runs(void **state)
{
    (void)state;
    char said[512];
    struct rank_run r = rank_start((char *const[]){ "falaj-rank", NULL });
    assert_int_equal(rank_end(&r, said, sizeof said), 255);
    assert_memory_equal(said, "use: falaj-rank rank-N COMMAND", strlen("use: falaj-rank rank-N COMMAND"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(it_is_static), cmocka_unit_test(it_runs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
