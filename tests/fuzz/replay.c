/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - main of a fuzzer without libFuzzer: runs it once on each file given as argument, and on changed copies of it.
 *
 * The changes are blind (bytes, lengths, pieces moved and joined) and the same in every run: a share of what tests/run.sh --full does with
 * coverage for a minute each. When one breaks something, its bytes are printed in hex before the sanitizer's words. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

enum { INPUT_MAX = 1 << 22, CHANGED_MAX = 1 << 14, COPIES = 2000, BUDGET_MS = 1500 };

static const uint8_t *now;
static size_t now_len;
static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t rnd(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return below ? seed % below : 0;
}

static void tell(void)
{
    fprintf(stderr, "the input, %zu bytes:", now_len);
    for (size_t i = 0; i < now_len && i < 4096; i++)
        fprintf(stderr, "%s%02x", i % 32 ? "" : "\n", now[i]);
    fprintf(stderr, "\n");
}

static void on_abort(int sig)
{
    signal(sig, SIG_DFL);
    tell();
}

static void run(const uint8_t *data, size_t n)
{
    /* A copy of exactly n bytes, so that a sanitizer sees the first byte behind the end. */
    uint8_t *exact = malloc(n ? n : 1);
    if (!exact)
        abort();
    memcpy(exact, data, n);
    now = exact;
    now_len = n;
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

/* One to four changes of d, which holds *n of CHANGED_MAX bytes. */
static void change(uint8_t *d, size_t *n)
{
    static const uint8_t words[] = { 0, 1, 0x7f, 0x80, 0xff, '"', '\\', '{', '[', ',', '\n', '0', '9', '-' };
    for (uint64_t k = 1 + rnd(4); k > 0; k--) {
        size_t at = rnd(*n), len = 1 + rnd(16);
        switch (*n ? rnd(6) : 3) {
        case 0:
            d[at] ^= (uint8_t)(1u << rnd(8));
            break;
        case 1:
            d[at] = words[rnd(sizeof words)];
            break;
        case 2:
            *n = at;
            break;
        case 3:
            if (*n + len <= CHANGED_MAX) {
                memmove(d + at + len, d + at, *n - at);
                for (size_t i = 0; i < len; i++)
                    d[at + i] = words[rnd(sizeof words)];
                *n += len;
            }
            break;
        case 4:
            len = len > *n - at ? *n - at : len;
            memmove(d + at, d + at + len, *n - at - len);
            *n -= len;
            break;
        default:
            len = len > *n - at ? *n - at : len;
            memmove(d + rnd(*n - len + 1), d + at, len);
        }
    }
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    uint8_t *data = malloc(INPUT_MAX), *copy = malloc(CHANGED_MAX);
    if (!data || !copy)
        return 1;
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell);
    signal(SIGABRT, on_abort);                                  /* an ASSERT of the program */
    size_t changed = 0;
    int64_t until = now_ms() + BUDGET_MS;
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size_t n = fread(data, 1, INPUT_MAX, f);
        fclose(f);
        run(data, n);
        for (int k = 0; n <= CHANGED_MAX && k < COPIES / (argc - 1) && now_ms() < until; k++, changed++) {
            size_t len = n;
            memcpy(copy, data, n);
            change(copy, &len);
            run(copy, len);
        }
    }
    free(data);
    free(copy);
    printf("%d inputs, share: %zu changed ones\n", argc - 1, changed);
    return 0;
}
