/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_energy.c - joules of whole steps: the card's own counter beside its power, read twenty times a second and added up.
 *
 * NVML's counter is total energy in mJ; its power is an average of about a second, so the steps run for two seconds before
 * anything is read. arg: as of gpt. */
#include "tests/bench/training/gpu_step.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { EVERY_MS = 50 };
static const double RUN_UP = 2;

struct meter {
    int (*energy)(void *card, unsigned long long *ret_mj);
    int (*power)(void *card, unsigned *ret_mw);
    void *card;
    _Atomic bool is_over;
    double joules, first_s, last_s, last_w;     /* of power, from first_s to last_s */
};

static bool meter_open(struct meter *m)
{
    int (*begin)(void);
    int (*handle)(unsigned, void **);
    void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!lib)
        return false;
    *(void **)&begin = dlsym(lib, "nvmlInit_v2");
    *(void **)&handle = dlsym(lib, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&m->energy = dlsym(lib, "nvmlDeviceGetTotalEnergyConsumption");
    *(void **)&m->power = dlsym(lib, "nvmlDeviceGetPowerUsage");
    return begin && handle && m->energy && m->power && !begin() && !handle(0, &m->card);
}

/* Trapezes between readings. */
static void read_power(struct meter *m)
{
    unsigned mw = 0;
    double at = now();
    if (m->power(m->card, &mw))
        return;
    double w = 1e-3 * (double)mw;
    if (m->first_s > 0)
        m->joules += (w + m->last_w) / 2 * (at - m->last_s);
    else
        m->first_s = at;
    m->last_s = at;
    m->last_w = w;
}

static void *watch(void *with)
{
    struct meter *m = with;
    const struct timespec pause = { .tv_nsec = EVERY_MS * 1000000l };
    while (!atomic_load(&m->is_over)) {
        read_power(m);
        nanosleep(&pause, NULL);
    }
    read_power(m);
    return NULL;
}

static size_t run_for(struct step *s, double seconds)
{
    size_t steps = 0;
    for (double began = now(); steps < 1 || now() - began < seconds; steps++)
        (void)step_run(s);
    return steps;
}

void stage_energy(void)
{
    struct train_job job;
    struct net_shape shape;
    struct step s;
    struct meter m = { 0 };
    pthread_t thread;
    unsigned long long before = 0, after = 0;
    (void)gpt_job(&job, &shape, arg);
    if (!meter_open(&m)) {
        printf("{\"stage\": \"energy\", \"meter\": \"none\"}\n");
        return;
    }
    step_new(&s, &job, shape, arg[4]);
    (void)run_for(&s, RUN_UP);
    if (m.energy(m.card, &before) || pthread_create(&thread, NULL, watch, &m)) {
        FAIL(&failure, UNAVAILABLE, "the card does not tell its energy");
        stop("energy");
    }
    double began = now();
    size_t steps = run_for(&s, budget_s);
    double took = now() - began;
    int rc = m.energy(m.card, &after);
    atomic_store(&m.is_over, true);
    (void)pthread_join(thread, NULL);
    double counted = 1e-3 * (double)(after - before), items = (double)(steps * s.items);
    double integrated = m.joules * took / (m.last_s - m.first_s);
    bool agrees = !rc && counted > 0.95 * integrated && counted < 1.05 * integrated;
    printf("{\"stage\": \"energy\", \"reached\": %s, \"seconds\": %.2f, \"steps\": %zu, \"counter_j\": %.1f, "
           "\"integrated_j\": %.1f, \"ratio\": %.4f, \"watts\": %.1f, \"mj_per_item\": %.4f, \"items_s\": %.0f}\n",
           agrees ? "true" : "false", took, steps, counted, integrated, counted / integrated, counted / took,
           1e3 * counted / items, items / took);
    step_free(&s);
}
