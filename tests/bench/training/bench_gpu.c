/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gpu.c - figures of the backend on a card, as lines of JSON: bench_gpu STAGE SECONDS [NUMBER…], run by gpu.sh.
 *
 * check [FIRST]                  every operation against the fp64 reference: a line for each that differs, then a sum
 * copy MIB                       bytes per second read and written by a copy on the card, and of copies up and down
 * product M N K                  of x[m,k] · w[n,k]ᵀ
 * products TOKENS WIDTH WORDS    all of a step of GPT-2: forward and both gradients
 * attention B T HEADS D          causal; the backward form counts five products of which two are made again
 * gpt LAYERS WIDTH HEADS T B     whole steps; FALAJ_GPU_PROFILE: and each operation's share
 * cnn SIDE CHANNELS B | mlp IN HIDDEN B
 * energy LAYERS WIDTH HEADS T B  joules of gpt's steps by the card's counter and by its power
 * tune LAYERS WIDTH HEADS T B ACCUMULATE | data … B
 * grads LAYERS WIDTH HEADS T B | curve … STEPS   what PyTorch is to get, too (gpu_learn.c)
 * nccl MIB                       exchanges of so many gradients by one rank, and a link that is given up */
#include "tests/bench/training/gpu_kit.h"

double budget_s;
size_t arg[GPU_ARGS];
struct backend_ctx *ctx;
struct err failure;

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*run)(void); int args; } stages[] = {
        { "check", stage_check, 1 },         { "copy", stage_copy, 1 }, { "product", stage_product, 3 },
        { "products", stage_products, 3 },   { "attention", stage_attention, 4 },
        { "gpt", stage_gpt, 5 },             { "cnn", stage_cnn, 3 },   { "mlp", stage_mlp, 3 },
        { "energy", stage_energy, 5 },       { "grads", stage_grads, 5 }, { "curve", stage_curve, 6 },
        { "tune", stage_tune, 6 },           { "data", stage_data, 5 },
        { "nccl", stage_nccl, 1 },
    };
    for (size_t i = 0; argc >= 3 && i < sizeof stages / sizeof *stages; i++) {
        if (strcmp(argv[1], stages[i].name) || argc > 3 + stages[i].args || (argc < 3 + stages[i].args && i))
            continue;
        budget_s = atof(argv[2]);
        for (int k = 3; k < argc; k++)
            arg[k - 3] = strtoul(argv[k], NULL, 10);
        choose_backend();
        if (gpu.open(&gpu, NULL, &ctx, &failure) != ERR_OK)
            stop("open");
        has_library = i && strcmp(argv[1], "products") && use_library(ctx);     /* those do both, one after the other */
        use_hopper(ctx);
        find_begin();
        stages[i].run();
        gpu.close(ctx);
        return 0;
    }
    fprintf(stderr, "usage: bench_gpu STAGE SECONDS [NUMBER...]; stages:");
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        fprintf(stderr, " %s", stages[i].name);
    fprintf(stderr, "\n");
    return 2;
}
