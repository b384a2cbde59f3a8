/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - which GPUs the machine registers: those that were found, or those of the settings; and what happens when one falls
 * out. */
#include "workers/agent/agent_int.h"

#include <string.h>
#include "core/base/log.h"

/* Found, unless the settings say how many there are. Without a library, or where it does not answer, there are none. */
void agent_find_cards(struct agent *a)
{
    struct err e = { 0 };
    if (a->config->worker_gpus || !a->config->worker_nvml[0] || cards_new(a->config->worker_nvml, &a->cards, &e) == ERR_OK)
        return;
    a->cards = NULL;
    log_event(LOG_INFO, "gpu.none", "why", LOG_S(e.msg), NULL);
}

static struct slice devices_found(struct agent *a, int isolation)
{
    size_t n = a->cards_withdrawn ? 0 : a->cards->offered_count;
    for (size_t i = 0; i < n; i++) {
        const struct card *card = a->cards->offered[i];
        a->devices[i] = (struct node_device){ (int64_t)i, str_c(card->uuid), str_c(card->model), card->memory_bytes, isolation };
    }
    a->facts.gpus = (int64_t)n;
    return (struct slice){ a->devices, n };
}

/* What was found, or what the settings say of this machine's GPUs. */
struct slice agent_devices(struct agent *a)
{
    const struct config *cfg = a->config;
    struct str rest = str_c(cfg->worker_gpu_uuids);
    int isolation = GPU_NONE;
    for (int i = 0; gpu_isolation_names[i]; i++)        /* another word gives no shares, which is safe */
        if (strcmp(gpu_isolation_names[i], cfg->worker_gpu_isolation) == 0)
            isolation = i;
    if (a->cards)
        return devices_found(a, isolation);
    if (!cfg->worker_gpu_model[0] && !rest.len)
        return (struct slice){ 0 };
    for (int64_t i = 0; i < cfg->worker_gpus; i++) {
        struct str uuid = STR("");
        if (rest.len)
            (void)str_cut(rest, ',', &uuid, &rest);
        a->devices[i] = (struct node_device){ i, uuid, str_c(cfg->worker_gpu_model), cfg->worker_gpu_memory, isolation };
    }
    return (struct slice){ a->devices, (size_t)cfg->worker_gpus };
}

/* A sick card takes all out until no lease has one; then the healthy are registered anew. Of the fetching thread. */
void agent_watch_cards(struct agent *a)
{
    struct err e = { 0 };
    if (!a->cards || clock_mono_us(&clock_system) < a->cards_at_us)
        return;
    a->cards_at_us = clock_mono_us(&clock_system) + a->config->worker_gpu_check_ms * 1000;
    a->cards_changed = cards_check(a->cards) || a->cards_changed;
    bool is_free = !a->gpu_leases, was_withdrawn = a->cards_withdrawn;
    if (!a->cards_changed || (was_withdrawn && !is_free))
        return;
    if (is_free)
        cards_offer(a->cards);
    a->cards_withdrawn = !is_free;
    a->facts.devices = agent_devices(a);
    if (agent_enroll(a, &a->stopping, &e) == ERR_OK) {
        a->cards_changed = !is_free;
    } else if (!a->stopping) {
        a->cards_withdrawn = was_withdrawn;             /* at the next check again */
        log_err(LOG_WARN, "gpu.not_registered", &e);
    }
}
