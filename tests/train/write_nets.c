/* SPDX-License-Identifier: Apache-2.0 */
/* write_nets.c - one small net of each family with random parameters: NAME.safetensors, NAME.in and NAME.out (raw numbers) in a
 * folder. */
#include <stdio.h>

#include "core/base/cleanup.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/model_file.h"

enum { ROWS = 3, NUMBERS = 1 << 16 };
#define LIST(...) { (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }

static bool write_all(const char *dir, const char *name, const char *end, const void *p, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", dir, name, end);
    FILE *f = fopen(path, "we");
    bool ok = f && fwrite(p, 1, n, f) == n;
    return f && fclose(f) == 0 && ok;
}

static enum errc write_net(struct arena *a, const struct backend *be, const char *dir, const char *name,
                           const struct train_job *s,
                           struct net_shape shape, struct err *e)
{
    static float x[NUMBERS], logits[NUMBERS], params[NUMBERS];
    static int32_t tokens[NUMBERS];
    struct backend_ctx *c;
    struct net *n;
    struct train_data d = { 0 };
    const struct net_spec spec = { ELEM_F32, s, shape, ROWS, .is_serving = true };
    CLEANUP(buf_releasep) struct buf file = BUF(16 << 20);
    bool is_gpt = s->family == TRAIN_GPT;
    TRY(be->open(be, NULL, &c, e));
    TRY(net_new(be, c, &spec, &n, e));
    for (size_t i = 0; i < NUMBERS; i++) {
        x[i] = (float)philox_normal(1, 0, i);
        tokens[i] = (int32_t)(philox(1, 1, i).v[0] % shape.outputs);
        params[i] = (float)(0.2 * philox_normal(1, 2, i));
    }
    struct buffer *at = run_region(n->run, REGION_PARAMS);
    ASSERT(n->numbers <= NUMBERS);
    be->put(c, QUEUE_COMPUTE, at, 0, params, n->numbers * sizeof *params);
    net_put(n, is_gpt ? (const void *)tokens : x, NULL, ROWS);
    net_exec(n, ROWS, PHASE_FORWARD, false, NULL);
    size_t answers = is_gpt ? ROWS * shape.inputs * shape.outputs : ROWS * shape.outputs;
    run_get(n->run, n->logits, 0, ROWS, logits);
    TRY(run_sync(n->run, e));
    TRY(model_file_write(a, n, params, &d, &(struct model_about){ 0.5, 1, STR("") }, &file, e));
    bool ok = write_all(dir, name, "safetensors", file.ptr, file.len) && write_all(dir, name, "out", logits,
                                                                                   answers * sizeof *logits)
              && write_all(dir, name, "in", is_gpt ? (const void *)tokens : x, ROWS * shape.inputs * sizeof *x);
    net_free(n);
    be->close(c);
    return ok ? ERR_OK : FAIL(e, IO, "%s cannot be written", name);
}

static enum errc write_nets(const char *dir, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 << 20);
    const struct backend *be;
    struct hw hw;
    hw_read(&hw);
    TRY(backend_choose("auto", &hw, NULL, NULL, &be, e));
    const struct train_job mlp = { .family = TRAIN_MLP, .hidden = LIST(17, 9) };
    const struct train_job plain = { .family = TRAIN_CNN, .image = LIST(9, 8, 3), .channels = LIST(8, 12), .blocks = LIST(1, 2) };
    struct train_job residual = plain, gpt2 = { .family = TRAIN_GPT, .layers = 2, .width = 32, .heads = 4,
                                                .context = 19 }, llama = gpt2;
    residual.residual = true;
    llama.rms_norm = llama.rotary = llama.gated = true;
    llama.kv_heads = 2;
    TRY(write_net(a, be, dir, "mlp", &mlp, (struct net_shape){ 13, 5, NET_CLASSES }, e));
    TRY(write_net(a, be, dir, "plain", &plain, (struct net_shape){ 216, 4, NET_CLASSES }, e));
    TRY(write_net(a, be, dir, "residual", &residual, (struct net_shape){ 216, 4, NET_CLASSES }, e));
    TRY(write_net(a, be, dir, "gpt2", &gpt2, (struct net_shape){ 19, 50, NET_CLASSES }, e));
    return write_net(a, be, dir, "llama", &llama, (struct net_shape){ 19, 50, NET_CLASSES }, e);
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    if (argc == 2 && write_nets(argv[1], &e) == ERR_OK)
        return 0;
    fprintf(stderr, "write_nets DIR: %s\n", e.msg);
    return 1;
}
