/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c - a small table of armed points; a mutex guards the counters. */
#include "core/base/fault.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 16 };

bool fault_any;

static struct point {
    char name[48];
    int nth;        /* fires on this call; 0: percent is used */
    int percent;
    int calls;
    unsigned seed;
} points[MAX_POINTS];
static int npoints;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void fault_setup(const char *spec)
{
    npoints = 0;
    while (spec && *spec && npoints < MAX_POINTS) {
        struct point *p = &points[npoints];
        int used = 0;
        char unit = 0;
        *p = (struct point){ .seed = 1 };
        int value = 0;
        if (sscanf(spec, "%47[^:,]:%d%c%n", p->name, &value, &unit, &used) >= 2) {
            if (unit == '%')
                p->percent = value;
            else
                p->nth = value;
            npoints++;
        }
        spec = strchr(spec, ',');
        if (spec)
            spec++;
    }
    fault_any = npoints > 0;
}

bool fault_fires(const char *name)
{
    bool fires = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < npoints; i++) {
        struct point *p = &points[i];
        if (strcmp(p->name, name))
            continue;
        p->calls++;
        fires = p->nth ? p->calls == p->nth : (int)(rand_r(&p->seed) % 100) < p->percent;
    }
    pthread_mutex_unlock(&lock);
    return fires;
}
