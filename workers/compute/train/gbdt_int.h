/* SPDX-License-Identifier: Apache-2.0 */
/* gbdt_int.h - the state of a run, shared by gbdt.c (the rounds) and gbdt_state.c (save and restore). */
#pragma once
#include "workers/compute/train/gbdt.h"
#include "workers/compute/train/gbdt_model.h"
#include "workers/compute/train/joules.h"

struct gbdt_cursor {
    int64_t round, rounds;              /* trees of each score so far; evaluations so far */
    int64_t bad_rounds;                 /* evaluations since the best one */
    double seconds, joules;             /* worked and taken so far */
    struct train_epoch last, best;      /* best.epoch 0: none yet; step: its round */
};

struct gbdt {
    struct arena *arena;
    const struct train_task *job;
    const struct train_observer *obs;
    struct gbdt_bins bins;
    struct gbdt_loss loss;
    struct gbdt_model model;
    struct gbdt_grower **growers;
    struct gbdt_tree *trees;            /* [scores]: of the present round */
    size_t lanes;                       /* growers */
    uint32_t *sample, *left_out;        /* rows in and out of the present round */
    size_t sample_count, left_count;
    unsigned char *columns;             /* [scores][cols], or NULL */
    int64_t began_us;
    bool is_due;                        /* a checkpoint, as soon as the store is ready */
    struct joules joules;
    struct gbdt_cursor at;
};

enum errc gbdt_save(struct gbdt *g, bool wait, struct err *e);
/* *ret_found: the run goes on where a checkpoint ended; scores are as they were. */
enum errc gbdt_restore(struct gbdt *g, bool *ret_found, struct err *e);
