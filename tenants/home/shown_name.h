/* SPDX-License-Identifier: Apache-2.0 */
/* shown_name.h - what tenants, projects, data sets and models are called for people, beside the short name that programs use: a
 * name in English and one in Arabic.
 *
 * Both may be empty: readers of Arabic see the Arabic name, else the other, else the short name; all others see display_name,
 * else the short name (console/src/lib/titles.ts). Nothing is decided by them; lists and the audit log are searched by them too.
 * They are text of at most SHOWN_NAME_MAX characters, without control and direction characters. */
#pragma once
#include "core/table/schema.h"

enum { SHOWN_NAME_MAX = 128 };

struct shown_name { struct str en, ar; };       /* of a change: STR_NULL leaves it as it is */

/* Members and fields of a row; the columns are called so. */
#define SHOWN_NAME struct str display_name, display_name_ar
#define SHOWN_NAME_FIELDS(T) \
    FIELD(T, display_name, F_ALWAYS, .doc = "Name for people; empty: the short name is enough"), \
    FIELD(T, display_name_ar, F_ALWAYS, .doc = "Name for people in Arabic; empty: as in display_name")
/* And of an input: "" takes a name away. */
#define SHOWN_NAME_IN(T) \
    FIELD(T, display_name, 0, .max = SHOWN_NAME_MAX, .check = check_name, .doc = "Name for people"), \
    FIELD(T, display_name_ar, 0, .max = SHOWN_NAME_MAX, .check = check_name, \
          .doc = "Name for people in Arabic; empty: as in display_name")
/* For a reader of Arabic, or any other. */
static inline struct str shown_name_for(struct str name, struct shown_name called, bool is_arabic)
{
    if (is_arabic && called.ar.len)
        return called.ar;
    return called.en.len ? called.en : name;
}
#define SHOWN_NAME_OF(p) (struct shown_name){ (p)->display_name, (p)->display_name_ar }
