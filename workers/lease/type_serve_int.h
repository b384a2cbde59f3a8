/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve_int.h - the parts of a serving child: type_serve.c (model, listener and life), job_infer.c (one inference request),
 * job_text.c (one text). */
#pragma once
#include "core/http/server.h"
#include "workers/lease/child.h"
#include "workers/compute/infer/batch.h"
#include "workers/compute/text/text_engine.h"

struct job_serve {
    struct child *child;
    struct http_server *server;
    struct infer_model *model;          /* of a decoder its description alone */
    struct batcher *batcher;            /* NULL: a decoder */
    struct text_model *text_model;      /* this and below: of a decoder; else NULL */
    struct text_engine *text;
    const struct text_info *info;
    char identity[300];                 /* the only caller */
    struct str name;
    int64_t version;
    char *room;                         /* FRAME_MAX bytes: what the agent sends */
};

void serve_fail(struct http_exchange *x, int status, const char *why);     /* {"error": why} */
/* POST /infer on the loop thread; answers now, or from a batcher thread. */
void serve_infer(struct job_serve *s, struct http_exchange *x);
/* POST /generate and /generate_stream likewise, from the engine's thread. */
void serve_text(struct job_serve *s, struct http_exchange *x, bool is_stream);
