/* SPDX-License-Identifier: Apache-2.0 */
/* table_kit.h - a real table of words and numbers: the 2201 people aboard the Titanic (British Board of Trade, 1912) by class,
 * sex and
 * age; the crew had no class, so that cell is empty. Nothing but the counts is known, so the best guess of who survived is
 * right for 0.7905 of them. Included after cmocka.h. */
#pragma once
#include "run_kit.h"

static inline struct str kit_titanic(struct arena *a)
{
    static const struct { const char *who; int died, survived; } all[] = {
        { "1,male,child", 0, 5 },       { "2,male,child", 0, 11 },     { "3,male,child", 35, 13 },   { "1,female,child", 0, 1 },
        { "2,female,child", 0, 13 },    { "3,female,child", 17, 14 },  { "1,male,adult", 118, 57 },  { "2,male,adult", 154, 14 },
        { "3,male,adult", 387, 75 },    { ",male,adult", 670, 192 },   { "1,female,adult", 4, 140 }, { "2,female,adult", 13, 80 },
        { "3,female,adult", 89, 76 },   { ",female,adult", 3, 20 },
    };
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    buf_add_c(&b, "class,sex,age,survived\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int k = 0; k < all[i].died + all[i].survived; k++)
            buf_printf(&b, "%s,%d\n", all[i].who, k >= all[i].died);
    return str_dup(a, buf_str(&b));
}

static inline struct data_schema kit_titanic_schema(void)
{
    static struct str words[] = { { "sex", 3 }, { "age", 3 } };
    return (struct data_schema){ .label = STR("survived"), .classes = 2, .categories = { words, 2 }, .has_missing = true };
}
