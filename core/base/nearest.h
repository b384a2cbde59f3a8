/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - which of the known words somebody may have meant. Pure. */
#pragma once
#include "core/base/str.h"

enum { NEAREST_MAX = 64 };

/* Levenshtein's distance: letters to insert, remove or change. NEAREST_MAX, which is far, for words longer than that. */
size_t nearest_distance(struct str a, struct str b);
/* The known word that is least far, and at most a third of the word plus one; STR_NULL: none is. The first of equals. */
struct str nearest_of(struct str word, const struct str *known, size_t n);
