/* SPDX-License-Identifier: Apache-2.0 */
/* tool_text.h - infer and bench of a decoder: text from a prompt, and tokens per second. */
#pragma once
#include "workers/tool/tool.h"

/* Whether the model file is a decoder; *ret is over its bytes in *ret_file, which the caller unmaps either way. */
bool tool_is_text(struct arena *a, const char *path, struct tool_map *ret_file, struct st_file *ret);
/* --prompt TEXT, or token numbers with commas where the model has no vocabulary; --max-tokens, --temperature, --seed. Prints
 * it. */
enum errc tool_text_infer(struct arena *a, const struct tool_args *t, const struct st_file *f, struct err *e);
/* --batch texts at once; prints one line of JSON. */
enum errc tool_text_bench(struct arena *a, const struct tool_args *t, const struct st_file *f, double load_from_us,
                           struct err *e);
