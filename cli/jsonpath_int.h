/* SPDX-License-Identifier: Apache-2.0 */
/* jsonpath_int.h - between jsonpath.c (templates) and jsonpath_walk.c (paths). */
#pragma once
#include "core/base/arena.h"
#include "core/json/jsonvalue.h"

struct values {
    struct arena *arena;
    const struct jval **list;
    size_t n, room;
};

/* What the path leads to from `at`; $ at its beginning: from the root. */
struct values jsonpath_walk(struct arena *a, const struct jval *root, const struct jval *at, struct str path);
/* Every step of it is one that this language knows. */
bool jsonpath_path_is_good(struct str path);
/* Without its first n characters. */
struct str jsonpath_skip(struct str s, size_t n);
/* The length of a quoted text with its quotes; 0: it does not end. */
size_t jsonpath_quoted_len(struct str s);
/* The length up to and with the bracket that closes s[0], quotes and brackets inside skipped; 0: it is not closed. */
size_t jsonpath_bracket_len(struct str s, char open, char close);
