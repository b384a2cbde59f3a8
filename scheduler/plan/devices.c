/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - devices as an array of thousandths. */
#include "scheduler/plan/devices.h"

static bool read_one(struct str item, int64_t ret[3])
{
    struct str part;
    for (int i = 0; i < 3; i++) {
        bool is_more = str_cut(item, ':', &part, &item);
        if (is_more != (i < 2) || !str_to_i64(part, INT64_MIN, INT64_MAX, &ret[i]))
            return false;
    }
    return ret[1] >= 0 && ret[1] <= DEVICES_MAX && ret[2] > 0 && ret[2] <= GPU_MILLI;
}

bool devices_read(struct devices *ret, int64_t n, struct str held)
{
    *ret = (struct devices){ .n = (int)(n < 0 ? 0 : n > DEVICES_MAX ? DEVICES_MAX : n) };
    for (int i = 0; i < ret->n; i++)
        ret->milli[i] = GPU_MILLI;
    struct str item, all = held;
    int64_t a[3], gone = 0;
    for (int pass = 0; pass < 2; pass++)            /* those with numbers first */
        for (struct str rest = all; rest.len;) {
            (void)str_cut(rest, ',', &item, &rest);
            if (!read_one(item, a))
                return false;
            uint64_t mask = (uint64_t)a[0];
            if (!mask == !pass)
                continue;
            int64_t left = a[1];
            for (int i = 0; i < ret->n; i++) {
                bool is_held = mask ? mask >> i & 1 : left > 0 && ret->milli[i] == GPU_MILLI;
                left -= is_held;
                if (is_held)
                    ret->milli[i] = (uint16_t)(ret->milli[i] > a[2] ? ret->milli[i] - a[2] : 0);
            }
            gone += left > 0 ? left * a[2] : 0;
        }
    for (int i = ret->n; i > 0 && gone > 0; i--) {      /* what is held of devices that are not there */
        int64_t part = ret->milli[i - 1] < gone ? ret->milli[i - 1] : gone;
        ret->milli[i - 1] = (uint16_t)(ret->milli[i - 1] - part);
        gone -= part;
    }
    return true;
}

int64_t devices_whole(const struct devices *d)
{
    int64_t whole = 0;
    for (int i = 0; i < d->n; i++)
        whole += d->milli[i] == GPU_MILLI;
    return whole;
}

int64_t devices_level(const struct devices *d)
{
    int64_t most = 0;
    for (int i = 0; i < d->n; i++)
        most = d->milli[i] > most ? d->milli[i] : most;
    return most;
}

uint64_t devices_pick(const struct devices *d, int64_t gpus, int64_t milli)
{
    uint64_t mask = 0;
    int best = -1;
    if (gpus == 1 && milli < GPU_MILLI) {
        for (int i = 0; i < d->n; i++)
            if (d->milli[i] >= milli && (best < 0 || d->milli[i] < d->milli[best]))
                best = i;
        return best < 0 ? 0 : (uint64_t)1 << best;
    }
    for (int i = 0; i < d->n && gpus > 0; i++)
        if (d->milli[i] == GPU_MILLI) {
            mask |= (uint64_t)1 << i;
            gpus--;
        }
    return gpus > 0 ? 0 : mask;
}

bool devices_take(struct devices *d, uint64_t mask, int64_t gpus, int64_t milli)
{
    if (__builtin_popcountll(mask) != gpus)
        return false;
    for (int i = 0; i < DEVICES_MAX; i++)
        if (mask >> i & 1 && (i >= d->n || d->milli[i] < milli))
            return false;
    for (int i = 0; i < d->n; i++)
        if (mask >> i & 1)
            d->milli[i] = (uint16_t)(d->milli[i] - milli);
    return true;
}

void devices_give(struct devices *d, uint64_t mask, int64_t milli)
{
    for (int i = 0; i < d->n; i++)
        if (mask >> i & 1)
            d->milli[i] = (uint16_t)(d->milli[i] + milli < GPU_MILLI ? d->milli[i] + milli : GPU_MILLI);
}
