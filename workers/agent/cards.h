/* SPDX-License-Identifier: Apache-2.0 */
/* cards.h - the GPUs of this machine as their management library (NVML) tells of them: found, registered, given to leases,
 * watched.
 *
 * Calling order: cards_new -> cards_offer -> (cards_check -> cards_offer)* -> cards_free. What is offered are the healthy cards
 * of one model (that of the first), in the library's order: a card's place among them is its index on the wire, until the next
 * cards_offer, which therefore waits until no lease holds a card. A card is named by its UUID and its device node, never by a
 * number that another process counts otherwise.
 * Taken out: after an XID that is not an application's own, an uncorrected memory error since the driver was loaded, or when the
 * library says that it is lost, until the agent starts again; while it is as hot as makes it slow down (seen twice), until it is
 * 10 degrees below that. One thread only, but for cards_energy, cards_use,
 * cards_minors and cards_visible. UNAVAILABLE: no such library, or one that lacks
 * a function or does not answer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/err.h"

enum { CARDS_MAX = 64, CARD_TEXT = 96 };

struct card {
    char uuid[CARD_TEXT], model[CARD_TEXT];     /* model as jobs name it: letters, digits, `.`, `_`, `-` */
    int64_t memory_bytes;
    unsigned minor;                             /* of /dev/nvidia<minor> */
    char fault[CARD_TEXT];                      /* why it is out; "": it is well */
    bool is_broken;                             /* until the agent starts again */
    int hot;                                    /* checks in a row that found it too hot */
    void *handle;
};

struct cards {
    struct card all[CARDS_MAX];
    size_t count;
    const struct card *offered[CARDS_MAX];
    size_t offered_count;
    struct nvml *nvml;
    void *events;
};

MUST_CHECK enum errc cards_new(const char *library, struct cards **ret, struct err *e);
void cards_free(struct cards *c);
void cards_offer(struct cards *c);
/* Asks every card; whether what should be offered has changed. A new fault is logged. */
bool cards_check(struct cards *c);
/* Whether every device of a lease (bit i: the i-th that is offered) is there and well. c NULL: settings say what there is. */
bool cards_can_give(const struct cards *c, uint64_t devices);
/* Millijoules that the i-th that is offered took since its driver was loaded; false: it does not count them. Any thread. */
bool cards_energy(const struct cards *c, size_t i, double *ret_mj);
/* Percent of the last moments (a second at most) in which the i-th that is offered computed, for whomever; false: it does not
 * say, as a card that is cut into instances. Any thread. */
bool cards_use(const struct cards *c, size_t i, unsigned *ret_percent);
/* The device nodes of these devices, bit m for /dev/nvidia<m>. c NULL: as they are counted. */
uint64_t cards_minors(const struct cards *c, uint64_t devices);
/* "CUDA_VISIBLE_DEVICES=" and their UUIDs (c NULL: their numbers). Async-signal-safe. Returns out. */
enum { CARDS_VISIBLE_MAX = 32 + CARDS_MAX * CARD_TEXT };
char *cards_visible(const struct cards *c, uint64_t devices, char out[CARDS_VISIBLE_MAX]);
