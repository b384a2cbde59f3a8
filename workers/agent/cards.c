/* SPDX-License-Identifier: Apache-2.0 */
/* cards.c - NVML by dlopen, one table of functions; a test puts a library of its own in its place. */
#include "workers/agent/cards.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/assert.h"
#include "core/base/library.h"
#include "core/base/log.h"

struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_use {
    unsigned gpu, memory;               /* percent of the time */
};
struct nvml_event {
    void *card;
    unsigned long long kind, data;
    unsigned gpu_instance, compute_instance;
};
enum { XID_EVENTS = 8, UNCORRECTED = 1, SINCE_LOADED = 0, SENSOR = 0, SLOWDOWN = 1, COOLER = 10, HOT_TIMES = 2,
       EVENTS_MOST = 64, GPU_IS_LOST = 15 };

struct nvml {
    void *library;
#define CALL(name, symbol, arguments) int (*name) arguments;
#include "workers/agent/nvml.def"
#undef CALL
};

static const struct library_call calls[] = {
#define CALL(name, symbol, arguments) { symbol, offsetof(struct nvml, name) },
#include "workers/agent/nvml.def"
#undef CALL
};

static enum errc open_library(struct nvml *n, const char *path, struct err *e)
{
    TRY(library_open(path, "NVML", &n->library, e));
    TRY(library_fill(n->library, path, calls, sizeof calls / sizeof *calls, n, e));
    int code = n->begin();
    return code ? FAIL(e, UNAVAILABLE, "%s does not begin (%d): is the driver loaded?", path, code) : ERR_OK;
}

/* "NVIDIA H100 80GB HBM3" -> "H100-80GB-HBM3". */
static void name_model(const char *told, char out[CARD_TEXT])
{
    size_t n = 0;
    if (!strncmp(told, "NVIDIA ", 7))
        told += 7;
    for (; *told && n < 63; told++) {
        bool is_plain = isalnum((unsigned char)*told) || *told == '.' || *told == '_' || *told == '-';
        if (is_plain || (n && out[n - 1] != '-'))
            out[n++] = is_plain ? *told : '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = 0;
}

static bool read_card(const struct nvml *n, unsigned index, struct card *ret)
{
    struct card c = { 0 };
    struct nvml_memory memory = { 0 };
    char model[CARD_TEXT] = "";
    if (n->handle(index, &c.handle) || n->uuid(c.handle, c.uuid, sizeof c.uuid) || n->model(c.handle, model, sizeof model)
        || n->minor(c.handle, &c.minor) || c.minor >= CARDS_MAX)
        return false;
    c.memory_bytes = n->memory(c.handle, &memory) ? 0 : (int64_t)memory.total;
    name_model(model, c.model);
    *ret = c;
    return true;
}

static enum errc find(struct cards *c, struct err *e)
{
    unsigned count = 0;
    int code = c->nvml->count(&count);
    if (code)
        return FAIL(e, UNAVAILABLE, "the GPUs cannot be counted (%d)", code);
    for (unsigned i = 0; i < count && c->count < CARDS_MAX; i++) {
        if (read_card(c->nvml, i, &c->all[c->count]))
            c->count++;
        else
            log_event(LOG_WARN, "gpu.unread", "index", LOG_I(i), NULL);
    }
    if (c->nvml->events_new(&c->events))
        c->events = NULL;               /* memory errors and heat are asked for all the same */
    for (size_t i = 0; c->events && i < c->count; i++)
        (void)c->nvml->events_of(c->all[i].handle, XID_EVENTS, c->events);     /* a card that knows none gives none */
    return ERR_OK;
}

enum errc cards_new(const char *library, struct cards **ret, struct err *e)
{
    struct cards *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->nvml = calloc(1, sizeof *c->nvml);
    ASSERT(c->nvml);
    enum errc rc = open_library(c->nvml, library, e);
    if (rc == ERR_OK)
        rc = find(c, e);
    if (rc != ERR_OK) {
        cards_free(c);
        return rc;
    }
    (void)cards_check(c);
    cards_offer(c);
    *ret = c;
    return ERR_OK;
}

void cards_free(struct cards *c)
{
    if (!c)
        return;
    if (c->events)
        (void)c->nvml->events_free(c->events);
    if (c->nvml->end && c->count)
        (void)c->nvml->end();
    if (c->nvml->library)
        dlclose(c->nvml->library);
    free(c->nvml);
    free(c);
}

/* Models of one machine are one (ADR 0043): the first healthy card's. */
static bool is_offered(const struct cards *c, const struct card *card)
{
    const struct card *first = NULL;
    for (size_t i = 0; i < c->count && !first; i++)
        if (!c->all[i].fault[0])
            first = &c->all[i];
    return first && !card->fault[0] && !strcmp(card->model, first->model);
}

void cards_offer(struct cards *c)
{
    c->offered_count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (is_offered(c, &c->all[i]))
            c->offered[c->offered_count++] = &c->all[i];
        else if (!c->all[i].fault[0])
            log_event(LOG_WARN, "gpu.other_model", "uuid", LOG_S(c->all[i].uuid), "model", LOG_S(c->all[i].model), NULL);
}

/* The numbers that a faulty program of a job brings about (NVIDIA, "XID Errors"); the card is well after them. */
static bool is_own_fault(unsigned long long xid)
{
    static const unsigned own[] = { 13, 31, 43, 45, 68, 69 };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] == xid)
            return true;
    return false;
}

static void hear_events(struct cards *c)
{
    struct nvml_event ev;
    for (int k = 0; c->events && k < EVENTS_MOST && c->nvml->events_next(c->events, &ev, 0) == 0; k++)
        for (size_t i = 0; i < c->count; i++)
            if (c->all[i].handle == ev.card && ev.kind == XID_EVENTS && !is_own_fault(ev.data) && !c->all[i].is_broken) {
                snprintf(c->all[i].fault, CARD_TEXT, "XID %llu", ev.data);
                c->all[i].is_broken = true;
            }
}

static void look(const struct nvml *n, struct card *card)
{
    unsigned long long errors = 0;
    unsigned heat = 0, limit = 0;
    if (card->is_broken)
        return;
    int code = n->ecc(card->handle, UNCORRECTED, SINCE_LOADED, &errors), warmth = n->heat(card->handle, SENSOR, &heat);
    if (code == GPU_IS_LOST || warmth == GPU_IS_LOST) {             /* whether or not its event was heard */
        snprintf(card->fault, CARD_TEXT, "it is lost");
        card->is_broken = true;
        return;
    }
    if (code == 0 && errors) {
        snprintf(card->fault, CARD_TEXT, "%llu uncorrected memory errors", errors);
        card->is_broken = true;
        return;
    }
    if (warmth || n->heat_limit(card->handle, SLOWDOWN, &limit) || !limit)
        return;
    card->hot = heat >= limit ? card->hot + 1 : 0;
    if (card->hot >= HOT_TIMES)
        snprintf(card->fault, CARD_TEXT, "%u degrees, it slows down at %u", heat, limit);
    else if (heat + COOLER < limit)
        card->fault[0] = 0;
}

bool cards_check(struct cards *c)
{
    bool was[CARDS_MAX], changed = false;
    for (size_t i = 0; i < c->count; i++)
        was[i] = c->all[i].fault[0];
    hear_events(c);
    for (size_t i = 0; i < c->count; i++) {
        struct card *card = &c->all[i];
        look(c->nvml, card);
        if (card->fault[0] && !was[i])
            log_event(LOG_ERROR, "gpu.out", "uuid", LOG_S(card->uuid), "why", LOG_S(card->fault), NULL);
        else if (!card->fault[0] && was[i])
            log_event(LOG_INFO, "gpu.back", "uuid", LOG_S(card->uuid), NULL);
        changed = changed || was[i] != (card->fault[0] != 0);
    }
    return changed;
}

bool cards_can_give(const struct cards *c, uint64_t devices)
{
    for (size_t i = 0; c && i < CARDS_MAX; i++)
        if (devices >> i & 1 && (i >= c->offered_count || c->offered[i]->fault[0]))
            return false;
    return true;
}

bool cards_energy(const struct cards *c, size_t i, double *ret_mj)
{
    unsigned long long mj = 0;
    if (i >= c->offered_count || c->nvml->energy(c->offered[i]->handle, &mj))
        return false;
    *ret_mj = (double)mj;
    return true;
}

bool cards_use(const struct cards *c, size_t i, unsigned *ret_percent)
{
    struct nvml_use use = { 0, 0 };
    if (i >= c->offered_count || c->nvml->use(c->offered[i]->handle, &use))
        return false;
    *ret_percent = use.gpu;
    return true;
}

uint64_t cards_minors(const struct cards *c, uint64_t devices)
{
    uint64_t minors = 0;
    for (size_t i = 0; c && i < c->offered_count; i++)
        if (devices >> i & 1)
            minors |= UINT64_C(1) << c->offered[i]->minor;
    return c ? minors : devices;
}

char *cards_visible(const struct cards *c, uint64_t devices, char out[CARDS_VISIBLE_MAX])
{
    static const char name[] = "CUDA_VISIBLE_DEVICES=";
    char *p = out + sizeof name - 1;
    memcpy(out, name, sizeof name);
    for (size_t i = 0; i < CARDS_MAX; i++) {
        if (!(devices >> i & 1) || (c && i >= c->offered_count))
            continue;
        if (p != out + sizeof name - 1)
            *p++ = ',';
        for (const char *from = c ? c->offered[i]->uuid : ""; *from; from++)
            *p++ = *from;
        if (!c && i >= 10)
            *p++ = (char)('0' + i / 10);
        if (!c)
            *p++ = (char)('0' + i % 10);
    }
    *p = '\0';
    return out;
}
