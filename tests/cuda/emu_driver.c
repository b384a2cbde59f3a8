/* SPDX-License-Identifier: Apache-2.0 */
/* emu_driver.c - the cards and the kernels that the driver knows, and the table of its calls. */
#include "tests/cuda/emu_calls.h"
#include "core/base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define KERNEL(name, threads, shared_bytes) extern const size_t gpu_emu_size_##name;
#define FLASH_HOPPER KERNEL
#include "workers/compute/kernels/cuda/kernel.def"
#undef KERNEL

static const struct emu_known known[] = {
#define KERNEL(name, threads, shared_bytes) \
    { "kernel_" #name, gpu_emu_##name, &gpu_emu_size_##name, shared_bytes, &(bool){ shared_bytes <= GPU_SHARED_FREE } },
#include "workers/compute/kernels/cuda/kernel.def"
#undef FLASH_HOPPER
#undef KERNEL
};

enum { BAD_CARD = 101, BAD_CONTEXT = 201 };

int call_init(unsigned flags)
{
    return (int)flags;
}

int call_text(int code, const char **ret)
{
    *ret = code == EMU_FAILED ? emu_last() : code == GPU_NO_MEMORY ? "out of memory" : "no such thing";
    return 0;
}

int call_version(int *ret)
{
    *ret = 12000;
    return 0;
}

int call_device_count(int *ret)
{
    *ret = emu_cards();
    return 0;
}

int call_device_get(int *ret, int ordinal)
{
    *ret = ordinal;
    return emu_is_card(ordinal) ? 0 : BAD_CARD;
}

int call_device_name(char *ret, int size, int device)
{
    snprintf(ret, (size_t)size, "processor %d", device);
    return 0;
}

int call_device_attribute(int *ret, int what, int device)
{
    (void)device;
    *ret = what == GPU_MAJOR ? 8 : 0;
    return 0;
}

int call_context_keep(void **ret, int device)
{
    *ret = emu_context(device);
    return *ret ? 0 : BAD_CARD;
}

int call_context_drop(int device)
{
    return emu_is_card(device) ? 0 : BAD_CARD;
}

int call_context_use(void *context)
{
    return emu_context_use(context) ? 0 : BAD_CONTEXT;
}

int call_memory_info(size_t *ret_free, size_t *ret_total)
{
    *ret_total = emu_memory_most() ? emu_memory_most() : (size_t)1 << 30;
    *ret_free = *ret_total > emu_memory_used() ? *ret_total - emu_memory_used() : 0;
    return 0;
}

int call_module_load(void **ret, const void *image)
{
    *ret = (void *)(uintptr_t)known;
    return image ? 0 : 218;
}

int call_module_unload(void *module)
{
    return module ? 0 : 400;
}

int call_module_function(void **ret, void *module, const char *name)
{
    for (size_t i = 0; module && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            *ret = (void *)(uintptr_t)&known[i];
            return 0;
        }
    return 500;
}

int call_function_set(void *function, int what, int value)
{
    const struct emu_known *k = function;
    if (what != GPU_SHARED_MOST || value != (int)k->shared_bytes)
        return 1;
    *k->may = (size_t)value <= emu_shared_most();
    return *k->may ? 0 : 1;
}

const struct gpu_driver *emu_driver(void)
{
    static const struct gpu_driver d = {
#define CALL(name, symbol, arguments) .name = call_##name,
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL
        .about = emu_about, .done = emu_done, .forget = emu_forget,
    };
    return &d;
}
