/* SPDX-License-Identifier: Apache-2.0 */
/* lease_read.h - what a lease left behind, as tests read it: outputs and artifacts opened, files, the report. Included by
 * lease_kit.h alone, whose store it opens. */
#pragma once

static inline void kit_open_output(struct kit_store *s, struct buf *ret)
{
    struct err e = { 0 };
    struct stream_opener *o = NULL;
    const struct stream_ref ref = { kit_id(200), STR("model"), kit_id(60), 1, kit_id(61) };
    *ret = BUF((size_t)64 << 20);
    assert_int_equal(stream_opener_new(&s->out_key, &ref, kit_to_buf, ret, &o, &e), ERR_OK);
    assert_int_equal(stream_opener_feed(o, s->uploaded.ptr, s->uploaded.len, &e), ERR_OK);
    assert_int_equal(stream_opener_finish(o, &e), ERR_OK);
    stream_opener_free(o);
}

/* The content of an artifact by its name. */
static inline void kit_open_artifact(struct kit_store *s, const char *name, struct buf *ret)
{
    struct err e = { 0 };
    struct stream_opener *o = NULL;
    int i = 0;
    while (i < s->n_ckpts && strcmp(s->ckpts[i].name, name) != 0)
        i++;
    assert_true(i < s->n_ckpts);
    const struct stream_ref ref = { kit_id(200), STR("artifact"), kit_id(KIT_CKPT_ID + i), 1, kit_id(61) };
    *ret = BUF((size_t)64 << 20);
    assert_int_equal(stream_opener_new(&s->out_key, &ref, kit_to_buf, ret, &o, &e), ERR_OK);
    assert_int_equal(stream_opener_feed(o, s->ckpts[i].sealed.ptr, s->ckpts[i].sealed.len, &e), ERR_OK);
    assert_int_equal(stream_opener_finish(o, &e), ERR_OK);
    stream_opener_free(o);
    buf_add_char(ret, '\0');
}

static inline void kit_read_file(const char *path, struct buf *ret)
{
    char room[65536];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *ret = BUF((size_t)64 << 20);
    for (size_t n; (n = fread(room, 1, sizeof room, f)) > 0;)
        buf_add(ret, room, n);
    fclose(f);
}

static inline const char *kit_program(char out[512])
{
    const char *bin = getenv("FALAJ_BIN");
    snprintf(out, 512, "%s/falaj-worker", bin ? bin : "build/dev/bin");
    return out;
}

/* The next report as text; "" when there is nothing to say. */
static inline void kit_report(struct book *b, struct buf *out)
{
    const struct node_identity n = { .node_id = kit_id(9), .boot_id = kit_id(8), .heartbeat_ms = 10000, .lease_ms = 30000 };
    buf_clear(out);
    if (!book_collect(b, &n, out))
        buf_clear(out);
}
