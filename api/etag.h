/* SPDX-License-Identifier: Apache-2.0 */
/* etag.h - does a client have this already? If-None-Match is * or a list of tags, compared weakly (RFC 9110, 13.1.2). */
#pragma once
#include "core/base/str.h"

static inline bool etag_is_listed(struct str list, struct str tag)
{
    struct str one;
    if (str_starts(tag, "W/"))
        tag = str_n(tag.ptr + 2, tag.len - 2);
    for (bool more = list.len > 0; more;) {
        more = str_cut(list, ',', &one, &list);
        one = str_trim(one);
        if (str_starts(one, "W/"))
            one = str_n(one.ptr + 2, one.len - 2);
        if (str_eq(one, tag) || str_eq_c(one, "*"))
            return true;
    }
    return false;
}
