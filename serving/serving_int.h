/* SPDX-License-Identifier: Apache-2.0 */
/* serving_int.h - the counts behind serving_note: per deployment and principal, written to the audit log once a minute by a thread. */
#pragma once
#include <pthread.h>
#include "serving/serving.h"

struct inference_counts;
struct inference_counts *inference_counts_new(const struct app *app);       /* starts the thread */
void inference_counts_free(struct inference_counts *c);                     /* ends it, writes what is left */
void inference_counts_add(struct inference_counts *c, const struct serving_caller *who, struct str zone, bool ok);
/* Room for more than can come between this question and an answer's count. */
bool inference_counts_have_room(struct inference_counts *c);
void inference_counts_flush(struct inference_counts *c);
