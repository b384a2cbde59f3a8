/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cycle.c - any bytes as a recorded cycle, as they are and with right checksums: what is accepted has indexes that lead
 * somewhere, and its parts are read again alone. */
/* USES: core_base scheduler_replay */
#include <stdlib.h>

#include "scheduler/replay/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct str bytes)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct err e = { 0 };
    struct cycle c;
    if (record_read(STR("f"), bytes, a, &c, &e) == ERR_OK) {
        struct told told;
        struct told_choice choice;
        for (size_t i = 0; i < c.s.jobs.n; i++) {
            const struct snap_job *j = &c.s.jobs.items[i];
            const struct str *z = j->zones.items;
            if (j->tenant < 0 || (size_t)j->tenant >= c.s.tenants.n)
                abort();
            for (size_t k = 0; k < j->zones.n; k++)
                if (!z[k].ptr)
                    abort();
        }
        for (size_t i = 0; i < c.s.book.rules.n; i++)
            if ((size_t)c.s.book.rules.items[i].cohort >= c.s.book.rules.n)
                abort();
        if (record_told(STR("f"), c.plan, a, &told, &e) != ERR_OK ||
            (c.has_choice && record_told_choice(STR("f"), c.evictions, a, &choice, &e) != ERR_OK))
            abort();
    } else if (e.code != ERR_INVALID && e.code != ERR_LIMIT) {
        abort();
    }
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        abort();
    look(str_n((const char *)data, size));
    memcpy(copy, data, size);
    if (size > FILE_HEAD) {
        tables_seal(copy, size, FILE_HEAD);
        look(str_n(copy, size));
    }
    free(copy);
    return 0;
}
