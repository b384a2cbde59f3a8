/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - the system clocks, and RFC 3339 (proleptic Gregorian day arithmetic after H. Hinnant, "chrono-compatible
 * low-level date algorithms"). */
#include "core/base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t sys_wall(void *ctx)
{
    (void)ctx;
    return read_clock(CLOCK_REALTIME);
}

static int64_t sys_mono(void *ctx)
{
    (void)ctx;
    return read_clock(CLOCK_MONOTONIC);
}

const struct clock clock_system = { sys_wall, sys_mono, NULL };

static int64_t days_from_civil(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void civil_from_days(int64_t days, int64_t *y, int *m, int *d)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365, doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int mp = (int)((5 * doy + 2) / 153);
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = mp + (mp < 10 ? 3 : -9);
    *y = yoe + era * 400 + (*m <= 2);
}

static int month_days(int64_t y, int m)
{
    static const int len[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return len[m - 1] + (m == 2 && ((y % 4 == 0 && y % 100) || y % 400 == 0));
}

int64_t time_add_months(int64_t us, int months)
{
    const int64_t day_us = 86400000000, rest = (us % day_us + day_us) % day_us;
    int64_t y;
    int m, d;
    civil_from_days((us - rest) / day_us, &y, &m, &d);
    const int64_t n = y * 12 + m - 1 + months;
    y = n / 12;
    m = (int)(n % 12) + 1;
    const int last = month_days(y, m);
    return days_from_civil(y, m, d < last ? d : last) * day_us + rest;
}

static void put2(char *p, int v)
{
    p[0] = (char)('0' + v / 10);
    p[1] = (char)('0' + v % 10);
}

size_t time_text(int64_t us, char out[TIME_TEXT])
{
    int64_t secs = us / 1000000, rem = us % 1000000;
    if (rem < 0) {
        rem += 1000000;
        secs--;
    }
    int64_t days = secs / 86400, tod = secs % 86400;
    if (tod < 0) {
        tod += 86400;
        days--;
    }
    int64_t y;
    int m, d;
    civil_from_days(days, &y, &m, &d);
    if (y < 0 || y > 9999)
        y = 9999;
    put2(out, (int)y / 100);
    put2(out + 2, (int)y % 100);
    out[4] = '-';
    put2(out + 5, m);
    out[7] = '-';
    put2(out + 8, d);
    out[10] = 'T';
    put2(out + 11, (int)(tod / 3600));
    out[13] = ':';
    put2(out + 14, (int)(tod / 60 % 60));
    out[16] = ':';
    put2(out + 17, (int)(tod % 60));
    int ms = (int)(rem / 1000);
    out[19] = '.';
    out[20] = (char)('0' + ms / 100);
    put2(out + 21, ms % 100);
    out[23] = 'Z';
    out[24] = '\0';
    return 24;
}

static bool digits(struct str s, size_t at, size_t n, int *ret)
{
    int v = 0;
    for (size_t i = at; i < at + n; i++) {
        if (i >= s.len || s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        v = v * 10 + s.ptr[i] - '0';
    }
    *ret = v;
    return true;
}

bool time_parse(struct str s, int64_t *ret_us)
{
    int y, mo, d, h, mi, sec, off = 0;
    if (s.len < 20 || !digits(s, 0, 4, &y) || s.ptr[4] != '-' || !digits(s, 5, 2, &mo) || s.ptr[7] != '-' ||
        !digits(s, 8, 2, &d) || (s.ptr[10] != 'T' && s.ptr[10] != 't' && s.ptr[10] != ' ') || !digits(s, 11, 2, &h) ||
        s.ptr[13] != ':' || !digits(s, 14, 2, &mi) || s.ptr[16] != ':' || !digits(s, 17, 2, &sec))
        return false;
    if (mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || sec > 60)
        return false;
    if (d > month_days(y, mo))
        return false;
    size_t i = 19;
    int64_t frac = 0;
    if (s.ptr[i] == '.') {
        int64_t scale = 100000;
        size_t from = ++i;
        for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++, scale /= 10)
            frac += (s.ptr[i] - '0') * scale;
        if (i == from || i - from > 9)
            return false;
    }
    if (i >= s.len)
        return false;
    if ((s.ptr[i] == 'Z' || s.ptr[i] == 'z') && i + 1 == s.len) {
        off = 0;
    } else if ((s.ptr[i] == '+' || s.ptr[i] == '-') && i + 6 == s.len) {
        int oh, om;
        if (!digits(s, i + 1, 2, &oh) || s.ptr[i + 3] != ':' || !digits(s, i + 4, 2, &om) || oh > 23 || om > 59)
            return false;
        off = (oh * 60 + om) * (s.ptr[i] == '-' ? -60 : 60);
    } else {
        return false;
    }
    int64_t us = (days_from_civil(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec - off) * 1000000 + frac;
    /* An offset or leap second must not lead out of the years that time_text can print. */
    if (us < -62135596800000000 || us > 253402300799999999)
        return false;
    *ret_us = us;
    return true;
}
