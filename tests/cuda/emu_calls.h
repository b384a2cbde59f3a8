/* SPDX-License-Identifier: Apache-2.0 */
/* emu_calls.h - between the files that make up the driver in its test form: emu_driver.c (the machine, the kernels, the table),
 * emu_queue.c (memory, streams and events) and emu_operation.c (operations, launches, captured sequences).
 *
 * Each call of driver.def is call_NAME here, and has the driver's own name for the linker: a test opens this program as the
 * driver's library. Each gives 0 or a code that call_text explains. */
#pragma once
#include "tests/cuda/emu_int.h"

#define CALL(name, symbol, arguments) int call_##name arguments __asm__(symbol);
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL

struct stream {
    int queue, card;
    float ms;                           /* that its calls have taken */
};

int emu_not_now(const char *what);      /* fails: a sequence is captured */
int emu_on_card(const char *what, void *stream);       /* fails where the thread's card is not the stream's */
/* Of an operation: what it touches, and its end (gpu_driver.about and .done). */
void emu_about(const char *what, void *stream, const struct gpu_use *of, size_t n);
int emu_done(void);
/* One kernel of the open operation; arguments as emu_known says. */
struct emu_known {
    const char *name;
    emu_kernel run;
    const size_t *size_bytes;           /* of its arguments */
    unsigned shared_bytes;
    bool *may;                          /* have more than every kernel may */
};
