/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - a model's weights as a tier's kernels read them, in a file that is mapped at the next start instead of being made
 * anew: then a start reads what the page cache has, and makes no pages of its own.
 *
 * The file says for which model file (device and number, size, times of its last write and change), tier and release it was made;
 * another one is written anew, as is a damaged one. What does not begin as such a file is left as it is. It is never the only
 * copy, and the model's own first rows are compared with it (graph/plan.h).
 * It holds weights in plain, as the model file does: it is made for its owner alone (0600), where the caller says, and a lease
 * has none. Form: PACKED_HEAD bytes of text with zeros behind it, and as many bytes for a table of struct packed_part, each part
 * at a page's border; numbers of this machine.
 * Calling order: packed_open -> its plan_kept while the model is loaded -> packed_keep -> the model's end -> packed_closep. */
#pragma once
#include "workers/compute/graph/plan.h"
#include "workers/compute/infer/model.h"
#include "workers/tool/tool.h"

enum { PACKED_HEAD = 4096, PACKED_PARTS_MAX = 256 };

struct packed_part {
    uint64_t offset, bytes;             /* 0 bytes: no such part */
};

struct packed {
    const char *path;                   /* NULL: nobody keeps any */
    char head[PACKED_HEAD];
    struct tool_map map;                /* what there is and fits; ptr NULL: nothing */
    struct plan_kept kept;
};

/* path NULL: nothing is kept. model: the file. INVALID: it cannot be looked at; at path is something else, or what others than
 * its owner, who must be the caller, may write. */
MUST_CHECK enum errc packed_open(const char *path, const char *model, const char *tier, struct packed *ret, struct err *e);
/* Writes what was packed, where nothing fitting was there; a model without such weights leaves no file. IO. */
MUST_CHECK enum errc packed_keep(struct packed *p, const struct infer_model *m, struct err *e);
void packed_closep(struct packed **p);  /* for CLEANUP */
