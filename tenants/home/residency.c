/* SPDX-License-Identifier: Apache-2.0 */
/* residency.c - the judge. It first finds out how much of a basis is needed (0, 1, 2) and who says so, then looks for one. */
#include "tenants/home/residency.h"
#include "tenants/access/cidr.h"

#include <stdarg.h>
#include <stdio.h>

const char *const data_class_names[] = { "public", "internal", "personal", "sensitive", "health", "banking", "gov", NULL };
const char *const may_leave_names[] = { "free", "with_basis", "never", NULL };
const char *const residency_act_names[] = { "submit", "place", "key", "upload", "download", "serve", "transfer", NULL };

/* How much is needed, and the words of whoever needs most. */
struct need {
    int level;
    const char *rule;
    struct str regime;          /* rule "law" */
};

static struct residency_verdict verdict(bool allowed, const char *rule, const char *fmt, ...) PRINTF_LIKE(3, 4);
static struct residency_verdict verdict(bool allowed, const char *rule, const char *fmt, ...)
{
    struct residency_verdict v = { .allowed = allowed, .rule = rule };
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v.text, sizeof v.text, fmt, ap);
    va_end(ap);
    return v;
}

static bool has_str(const struct slice *list, struct str s)
{
    const struct str *items = list->items;
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(items[i], s))
            return true;
    return false;
}

static const struct residency_zone *find_zone(const struct residency_facts *f, struct str code)
{
    const struct residency_zone *z = f->zones.items;
    for (size_t i = 0; code.ptr && i < f->zones.n; i++)
        if (str_eq(z[i].code, code))
            return &z[i];
    return NULL;
}

static bool permits(const struct residency_zone *z, int data_class)
{
    const int *c = z->classes.items;
    for (size_t i = 0; i < z->classes.n; i++)
        if (c[i] == data_class)
            return true;
    return false;
}

static bool address_ok(const struct residency_zone *z, struct str ip)
{
    const struct str *c = z->cidrs.items;
    struct cidr net;
    if (!ip.ptr || !z->cidrs.n)
        return true;
    for (size_t i = 0; i < z->cidrs.n; i++)
        if (cidr_parse(c[i], &net) && cidr_has(&net, ip))
            return true;
    return false;
}

static bool on_the_list(const struct residency_facts *f, int data_class, struct str zone)
{
    const struct residency_class_zone *c = f->class_zones.items;
    bool is_named = false;
    for (size_t i = 0; i < f->class_zones.n; i++) {
        if (c[i].data_class != data_class)
            continue;
        is_named = true;
        if (str_eq(c[i].zone, zone))
            return true;
    }
    return !is_named && has_str(&f->allowed, zone);
}

/* What the law of `from` needs for data of a class that goes to `to`. */
static struct need law_need(const struct residency_zone *from, const struct residency_zone *to, int data_class, int64_t now_us)
{
    struct need n = { 0, "law", STR_NULL };
    bool speaks = false;
    if (from == to)
        return n;
    const struct residency_rule *r = from->rules.items;
    for (size_t i = 0; i < from->rules.n; i++) {
        if (r[i].data_class != data_class || r[i].from_us > now_us || (r[i].until_us && r[i].until_us <= now_us))
            continue;
        bool is_inside = r[i].countries.n ? has_str(&r[i].countries, to->country) : str_eq(from->country, to->country);
        int level = is_inside || r[i].may_leave == LEAVE_FREE ? 0 : r[i].may_leave == LEAVE_WITH_BASIS ? 1 : 2;
        speaks = true;
        if (level > n.level)
            n = (struct need){ level, "law", r[i].regime };
    }
    if (speaks || str_eq(from->country, to->country) || data_class <= DC_INTERNAL)
        return n;
    return (struct need){ data_class >= DC_HEALTH ? 2 : 1, "no_law", STR_NULL };
}

static const struct residency_policy *find_policy(const struct residency_facts *f, const struct residency_question *q, struct str from, int level)
{
    const struct residency_policy *p = f->policies.items;
    for (size_t i = 0; i < f->policies.n; i++)
        if (p[i].data_class == q->data_class && str_eq(p[i].from, from) && str_eq(p[i].to, q->zone) && p[i].from_us <= q->now_us &&
            q->now_us < p[i].until_us && (level < 2 || p[i].has_exception) &&
            (str_eq_c(p[i].purpose, "any") || (q->purpose.ptr && str_eq(p[i].purpose, q->purpose))))
            return &p[i];
    return NULL;
}

static struct residency_verdict refuse_need(const struct need *n, const struct residency_question *q, struct str from)
{
    const char *class = data_class_names[q->data_class], *what = n->level == 2 ? "a transfer policy that names its exception" : "a transfer policy";
    if (n->regime.ptr)
        return verdict(false, "law", "By %.*s %s data leaves zone %.*s for %.*s only under %s, and none is in force", STR_ARG(n->regime), class, STR_ARG(from),
                       STR_ARG(q->zone), what);
    if (!strcmp(n->rule, "no_law"))
        return verdict(false, "no_law", "No law on record lets %s data go from zone %.*s to %.*s, nor is %s in force", class, STR_ARG(from), STR_ARG(q->zone), what);
    return verdict(false, "not_allowed", "Zone %.*s is not one where the tenant's %s data may be, and no transfer policy is in force", STR_ARG(q->zone), class);
}

bool residency_has_zone(const struct residency_facts *f, struct str zone)
{
    const struct residency_class_zone *c = f->class_zones.items;
    for (size_t i = 0; i < f->class_zones.n; i++)
        if (str_eq(c[i].zone, zone))
            return true;
    return str_eq(f->home, zone) || has_str(&f->allowed, zone);
}

struct residency_verdict residency_allows(const struct residency_facts *f, const struct residency_question *q)
{
    if (q->data_class < 0 || q->data_class >= DC_COUNT)
        return verdict(false, "unknown_class", "The class of the data is not known");
    const struct residency_zone *home = find_zone(f, f->home), *to = find_zone(f, q->zone), *from = q->from.ptr ? find_zone(f, q->from) : home;
    if (!home)
        return verdict(false, "no_home", "The tenant has no home zone");
    if (!to || !from)
        return verdict(false, "unknown_zone", "There is no zone %.*s", STR_ARG(to ? q->from : q->zone));
    if (!permits(to, q->data_class))
        return verdict(false, "zone_class", "Zone %.*s does not permit %s data", STR_ARG(to->code), data_class_names[q->data_class]);
    if (!address_ok(to, q->worker_ip))
        return verdict(false, "worker_address", "A machine at that address does not belong to zone %.*s", STR_ARG(to->code));
    struct need need = law_need(home, to, q->data_class, q->now_us), here = law_need(from, to, q->data_class, q->now_us);
    struct str law_of = home->code;
    if (here.level > need.level) {
        need = here;
        law_of = from->code;
    }
    if (!need.level && !on_the_list(f, q->data_class, to->code))
        need = (struct need){ 1, "not_allowed", STR_NULL };
    if (!need.level)
        return to == home ? verdict(true, "home", "Zone %.*s is the tenant's home", STR_ARG(to->code))
                          : verdict(true, "allowed_zone", "Zone %.*s is allowed for %s data", STR_ARG(to->code), data_class_names[q->data_class]);
    const struct residency_policy *p = find_policy(f, q, from->code, need.level);
    struct residency_verdict v = p ? verdict(true, "policy", "A transfer policy from %.*s to %.*s for %.*s is in force",
                                             STR_ARG(p->from), STR_ARG(p->to), STR_ARG(p->purpose))
                                   : refuse_need(&need, q, from->code);
    v.policy_id = p ? p->policy_id : UUID_NIL;
    v.regime = need.regime;
    v.law_of = need.regime.ptr ? law_of : STR_NULL;
    return v;
}
