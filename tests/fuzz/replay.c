/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - main of a fuzzer without libFuzzer: runs it once on each file given as argument. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 22 };

int main(int argc, char **argv)
{
    uint8_t *data = malloc(INPUT_MAX);
    if (!data)
        return 1;
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size_t n = fread(data, 1, INPUT_MAX, f);
        fclose(f);
        /* A copy of exactly n bytes, so that a sanitizer sees the first byte behind the end. */
        uint8_t *exact = malloc(n ? n : 1);
        if (!exact)
            return 1;
        for (size_t k = 0; k < n; k++)
            exact[k] = data[k];
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    free(data);
    printf("%d inputs\n", argc - 1);
    return 0;
}
