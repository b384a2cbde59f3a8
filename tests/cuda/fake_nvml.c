/* SPDX-License-Identifier: Apache-2.0 */
/* fake_nvml.c - NVML as a library of the tests: its cards are the lines of the file that FAKE_NVML names, read anew at each
 * question: uuid|model|bytes of memory|minor|degrees|uncorrected errors|xid (told once; 0: none). It slows down at 90 degrees;
 * one of 999 degrees is lost: its health is no longer told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CARDS = 8, TEXT = 96, NO_SUCH = 6, NOTHING = 10, LOST = 15, LOST_AT = 999, SLOWDOWN_AT = 90 };
struct line {
    char uuid[TEXT], model[TEXT];
    unsigned long long memory, errors, xid;
    unsigned minor, heat;
};
struct memory {
    unsigned long long total, free, used;
};
struct use {
    unsigned gpu, memory;
};
struct event {
    void *card;
    unsigned long long kind, data;
    unsigned gpu_instance, compute_instance;
};
static char places[CARDS];              /* handles */
static unsigned long long told[CARDS];

static unsigned read_all(struct line of[CARDS])
{
    const char *path = getenv("FAKE_NVML");
    FILE *f = path ? fopen(path, "re") : NULL;
    unsigned n = 0;
    for (; f && n < CARDS; n++)
        if (fscanf(f, "%95[^|]|%95[^|]|%llu|%u|%u|%llu|%llu\n", of[n].uuid, of[n].model, &of[n].memory, &of[n].minor, &of[n].heat,
                   &of[n].errors, &of[n].xid) != 7)
            break;
    if (f)
        fclose(f);
    return n;
}

static int one(const void *card, struct line *ret)
{
    struct line of[CARDS];
    size_t i = (size_t)((const char *)card - places);
    if (i >= read_all(of))
        return NO_SUCH;
    *ret = of[i];
    return 0;
}

#define NVML(name, arguments) int name arguments; int name arguments
NVML(nvmlInit_v2, (void))
{
    return getenv("FAKE_NVML") ? 0 : 9;
}
NVML(nvmlShutdown, (void))
{
    memset(told, 0, sizeof told);
    return 0;
}
NVML(nvmlDeviceGetCount_v2, (unsigned *ret))
{
    struct line of[CARDS];
    *ret = read_all(of);
    return 0;
}
NVML(nvmlDeviceGetHandleByIndex_v2, (unsigned index, void **ret))
{
    *ret = &places[index];
    return index < CARDS ? 0 : NO_SUCH;
}
NVML(nvmlDeviceGetUUID, (void *card, char *ret, unsigned size))
{
    struct line l;
    int code = one(card, &l);
    if (!code)
        snprintf(ret, size, "%s", l.uuid);
    return code;
}
NVML(nvmlDeviceGetName, (void *card, char *ret, unsigned size))
{
    struct line l;
    int code = one(card, &l);
    if (!code)
        snprintf(ret, size, "%s", l.model);
    return code;
}
NVML(nvmlDeviceGetMemoryInfo, (void *card, struct memory *ret))
{
    struct line l;
    int code = one(card, &l);
    *ret = (struct memory){ code ? 0 : l.memory, 0, 0 };
    return code;
}
NVML(nvmlDeviceGetMinorNumber, (void *card, unsigned *ret))
{
    struct line l;
    int code = one(card, &l);
    *ret = code ? 0 : l.minor;
    return code;
}
NVML(nvmlDeviceGetTemperature, (void *card, int sensor, unsigned *ret))
{
    struct line l;
    int code = sensor ? NO_SUCH : one(card, &l);
    *ret = code ? 0 : l.heat;
    return !code && l.heat == LOST_AT ? LOST : code;
}
NVML(nvmlDeviceGetTemperatureThreshold, (void *card, int which, unsigned *ret))
{
    struct line l;
    *ret = SLOWDOWN_AT;
    return which == 1 ? one(card, &l) : NO_SUCH;
}
NVML(nvmlDeviceGetTotalEccErrors, (void *card, int kind, int counter, unsigned long long *ret))
{
    struct line l;
    int code = one(card, &l);
    *ret = code || kind != 1 || counter != 0 ? 0 : l.errors;
    return !code && l.heat == LOST_AT ? LOST : code;
}
/* What the file that FAKE_NVML_ENERGY names says, in millijoules, of every card; without it they count none. */
NVML(nvmlDeviceGetTotalEnergyConsumption, (void *card, unsigned long long *ret))
{
    struct line l;
    const char *path = getenv("FAKE_NVML_ENERGY");
    FILE *f = path ? fopen(path, "re") : NULL;
    int code = one(card, &l);
    if (!code && (!f || fscanf(f, "%llu", ret) != 1))
        code = 3;
    if (f)
        fclose(f);
    return code;
}
/* What the file that FAKE_NVML_USE names says, in percent, of every card; without it they do not say. */
NVML(nvmlDeviceGetUtilizationRates, (void *card, struct use *ret))
{
    struct line l;
    const char *path = getenv("FAKE_NVML_USE");
    FILE *f = path ? fopen(path, "re") : NULL;
    int code = one(card, &l);
    if (!code && (!f || fscanf(f, "%u", &ret->gpu) != 1))
        code = 3;
    if (f)
        fclose(f);
    return code;
}
NVML(nvmlEventSetCreate, (void **ret))
{
    *ret = places;
    return 0;
}
NVML(nvmlEventSetFree, (void *events))
{
    return events == places ? 0 : NO_SUCH;
}
NVML(nvmlDeviceRegisterEvents, (void *card, unsigned long long kinds, void *events))
{
    struct line l;
    return kinds == 8 && events == places ? one(card, &l) : NO_SUCH;
}
NVML(nvmlEventSetWait_v2, (void *events, struct event *ret, unsigned wait_ms))
{
    struct line of[CARDS];
    (void)wait_ms;
    unsigned n = events == places ? read_all(of) : 0;
    for (unsigned i = 0; i < n; i++)
        if (of[i].xid != told[i]) {
            told[i] = of[i].xid;
            *ret = (struct event){ &places[i], 8, of[i].xid, 0, 0 };
            if (of[i].xid)
                return 0;
        }
    return NOTHING;
}
