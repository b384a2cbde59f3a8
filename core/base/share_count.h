/* SPDX-License-Identifier: Apache-2.0 */
/* share_count.h - how many of something each owner has: connections of an address, calls of a tenant, bytes of either.
 *
 * An owner is a key of at most SHARE_KEY_MAX bytes. Memory: one small piece for each owner that has any. Belongs to one thread,
 * or to a lock. */
#pragma once
#include <stddef.h>

enum { SHARE_KEY_MAX = 16 };

struct share_count;
struct share;

struct share_count *share_count_new(void);
void share_count_free(struct share_count *c);           /* NULL is fine; all that were taken are given back */
size_t share_count_of(const struct share_count *c, const void *key, size_t n);
/* One more. */
struct share *share_count_take(struct share_count *c, const void *key, size_t n);
void share_count_give(struct share *s);                 /* one less; NULL is fine */
/* many > 0 more, and less than were taken with this share: whoever gives the last one back may not use it any more. */
struct share *share_count_take_many(struct share_count *c, const void *key, size_t n, size_t many);
void share_count_give_many(struct share *s, size_t many);
