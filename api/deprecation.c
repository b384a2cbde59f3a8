/* SPDX-License-Identifier: Apache-2.0 */
/* deprecation.c - the days of a route's end, judged and written as its headers. */
#include "api/deprecation.h"
#include "core/base/clock.h"

#include <time.h>

static const int64_t DAY_US = INT64_C(86400) * 1000000;

static enum errc day_of(const char *day, const char *what, const char *op, struct arena *a, int64_t *ret_us, struct err *e)
{
    if (!day || !time_parse(str_fmt(a, "%sT00:00:00Z", day), ret_us))
        return FAIL(e, INTERNAL, "Route %s: .%s is \"%s\", a day such as 2026-12-01 is wanted", op, what, day ? day : "");
    return ERR_OK;
}

/* The fixed form of RFC 9110 5.6.7; names of days and months do not follow the locale. */
static struct str http_date(struct arena *a, int64_t us)
{
    static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    const time_t at = (time_t)(us / 1000000);
    struct tm t;
    gmtime_r(&at, &t);
    return str_fmt(a, "%s, %02d %s %d %02d:%02d:%02d GMT", days[t.tm_wday], t.tm_mday, months[t.tm_mon], t.tm_year + 1900,
                   t.tm_hour, t.tm_min, t.tm_sec);
}

enum errc deprecation_read(const struct route_end *end, const char *op, struct arena *a, struct end_headers *ret,
                           struct err *e)
{
    int64_t from, to;
    TRY(day_of(end->deprecated, "deprecated", op, a, &from, e));
    TRY(day_of(end->sunset, "sunset", op, a, &to, e));
    if (to - from < DEPRECATION_DAYS_MIN * DAY_US)
        return FAIL(e, INTERNAL,
                    "Route %s ends on %s, %ld days after it was deprecated; at least %d are promised (docs/howto/upgrade.md)",
                    op, end->sunset, (long)((to - from) / DAY_US), DEPRECATION_DAYS_MIN);
    ret->deprecation = str_fmt(a, "@%ld", (long)(from / 1000000));
    ret->sunset = http_date(a, to);
    ret->link = str_fmt(a, "<https://falaj.ae/upgrade#%s>; rel=\"deprecation\"; type=\"text/html\"", op);
    if (end->instead)
        ret->link = str_fmt(a, "%.*s, <%s>; rel=\"successor-version\"", STR_ARG(ret->link), end->instead);
    return ERR_OK;
}
