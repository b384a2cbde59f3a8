/* SPDX-License-Identifier: Apache-2.0 */
/* tool_kit.h - the real falaj-worker run with a command line, in a folder of its own; after cmocka.h. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/str.h"

static char kit_folder[64];

static inline int kit_begin(void **st)
{
    (void)st;
    strcpy(kit_folder, "/tmp/falaj-tool-XXXXXX");
    return mkdtemp(kit_folder) ? 0 : -1;
}
static inline int kit_end(void **st)
{
    (void)st;
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", kit_folder);
    return system(line);
}
/* Exit status; what it said on both streams in out. The words may name $D, the folder. */
static inline int kit_tool(char *out, size_t size, const char *words)
{
    char line[1024];
    const char *bin = getenv("FALAJ_BIN");
    snprintf(line, sizeof line, "D=%s; %s/falaj-worker %s 2>&1", kit_folder, bin ? bin : "build/asan/bin", words);
    FILE *p = popen(line, "re");
    assert_non_null(p);
    size_t n = fread(out, 1, size - 1, p);
    out[n] = 0;
    int status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static inline void kit_says(int want, const char *words, const char *text)
{
    char out[4096];
    int got = kit_tool(out, sizeof out, words);
    if (got != want || !strstr(out, text))
        fail_msg("falaj-worker %s: exit status %d, not %d, or without \"%s\": %s", words, got, want, text, out);
}
#define KIT_MLP "tests/onnx/models/mlp.onnx"
