/* SPDX-License-Identifier: Apache-2.0 */
/* batch_kit.h - a batch in a real child: one sealed table or request, and a small model of ours as the second input. */
#pragma once
#include "executor_kit.h"

#include "../compute/onnx/onnx_kit.h"

enum { BATCH_COLS = 3, BATCH_CLASSES = 2 };
#define BATCH_SPEC(more) \
    "{\"model_id\":\"mdl_00000000000000000000000000000001\",\"model_version\":4,\"model_name\":\"small\"" more "}"
#define BATCH_SET ",\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1"
static const float batch_weights[BATCH_COLS * BATCH_CLASSES] = { 1, -1, 0.5f, 2, -0.25f, 4 };

/* scores = rows * W */
static inline void batch_make(struct buf *file)
{
    struct buf g = BUF(KIT_BYTES);
    struct err e = { 0 };
    *file = BUF(KIT_BYTES);
    kit_input(&g, "pixels", KIT_DIMS(-1, BATCH_COLS));
    kit_tensor(&g, 5, "w", ONNX_FLOAT, KIT_DIMS(BATCH_COLS, BATCH_CLASSES), batch_weights, sizeof batch_weights);
    kit_node(&g, "MatMul", "pixels,w", "scores", NULL);
    kit_output(&g, "scores");
    assert_int_equal(kit_convert(&g, 17, file, &e), ERR_OK);
}

/* The model is the second input, sealed under another key, where the kit keeps checkpoints. */
static inline void batch_add_model(struct fixture *f, const struct buf *file)
{
    struct kit_ckpt *k = &f->store.ckpts[0];
    struct stream_sealer *sealer = NULL;
    struct err e = { 0 };
    uint8_t digest[32];
    const struct stream_ref ref = { kit_id(200), STR("model"), kit_id(KIT_CKPT_ID), 1, kit_id(61) };
    k->sealed = BUF((size_t)64 << 20);
    f->store.n_ckpts = 1;
    assert_int_equal(stream_sealer_new(&f->store.out_key, &ref, kit_to_buf, &k->sealed, &sealer, &e), ERR_OK);
    assert_int_equal(stream_sealer_feed(sealer, file->ptr, file->len, &e), ERR_OK);
    assert_int_equal(stream_sealer_finish(sealer, &e), ERR_OK);
    stream_sealer_free(sealer);
    sha256(file->ptr, file->len, digest);
    hex_encode(digest, 32, k->sha);
    k->size = (int64_t)file->len;
}

/* The newest checkpoints that were kept come along. */
static inline struct held *batch_job_of(struct fixture *f, const char *input, const char *spec)
{
    static struct lease_input in[4];            /* until the grant is copied into the book */
    struct lease_grant g = kit_grant(1, "batch", spec);
    kit_add_input(&g, &f->store, "dataset");
    in[0] = ((const struct lease_input *)g.inputs.items)[0];
    in[0].name = str_c(input);
    in[1] = (struct lease_input){ .name = STR("model"), .kind = STR("model"), .sha256 = str_c(f->store.ckpts[0].sha),
                                  .object_id = kit_id(KIT_CKPT_ID), .version = 1, .size_bytes = f->store.ckpts[0].size };
    size_t n = 2;
    for (int i = f->store.n_ckpts - 1; i > 0 && n < 4; i--)
        if (f->store.ckpts[i].is_kept)
            in[n++] = (struct lease_input){ .name = STR("checkpoint"), .kind = STR("checkpoint"),
                                            .sha256 = str_c(f->store.ckpts[i].sha), .object_id = kit_id(KIT_CKPT_ID + i),
                                            .version = 1, .size_bytes = f->store.ckpts[i].size };
    g.inputs = (struct slice){ in, n };
    return book_add(f->book, &g, true);
}

static inline void batch_begin(struct fixture *f, const char *content)
{
    CLEANUP(buf_releasep) struct buf file = BUF(0);
    batch_make(&file);
    setup_with(f, "1g", content, strlen(content));
    batch_add_model(f, &file);
}
