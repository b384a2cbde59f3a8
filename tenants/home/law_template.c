/* SPDX-License-Identifier: Apache-2.0 */
/* law_template.c - three readings of one table: each law takes the rows that name it. */
#include "tenants/home/law_template.h"
#include "core/base/assert.h"
#include "tenants/home/residency.h"

SCHEMA_OF(law_template_rule, "What a law says about data of a class leaving",
    FIELD_ENUM(law_template_rule, data_class, F_ALWAYS, data_class_names, .doc = "Of which data"),
    FIELD_ENUM(law_template_rule, may_leave, F_ALWAYS, may_leave_names, .doc = "As in a zone's law"),
    FIELD_STRS(law_template_rule, countries, F_ALWAYS, .max = 250, .doc = "Countries that count as inside; none: the zone's own"),
    FIELD(law_template_rule, source_text, F_ALWAYS, .doc = "The clause, in English"),
    FIELD(law_template_rule, source_text_ar, F_ALWAYS, .doc = "The clause, in Arabic"),
    FIELD(law_template_rule, valid_from, F_ALWAYS, .doc = "In force from"));
SCHEMA_OF(law_template_clock, "A time limit of a law", FIELD(law_template_clock, name, F_ALWAYS, .doc = "What runs"),
    FIELD_OPT(law_template_clock, hours, 0, .doc = "Hours; absent where the law names no number"),
    FIELD(law_template_clock, source_text, F_ALWAYS, .doc = "The clause, in English"),
    FIELD(law_template_clock, source_text_ar, F_ALWAYS, .doc = "The clause, in Arabic"),
    FIELD(law_template_clock, valid_from, F_ALWAYS, .doc = "In force from"));
SCHEMA_EXTERN(law_template, "A known law, as a zone's law is begun with",
    FIELD(law_template, template_id, F_ALWAYS, .doc = "Short name, e.g. uae-pdpl"),
    FIELD(law_template, name, F_ALWAYS, .doc = "The law, in English"),
    FIELD(law_template, name_ar, F_ALWAYS, .doc = "The law, in Arabic"),
    FIELD(law_template, regulator, 0, .doc = "Who supervises; absent: it differs"),
    FIELD_ENUMS(law_template, data_classes, F_ALWAYS, data_class_names, .max = DC_COUNT,
        .doc = "Classes of data that may be there"),
    FIELD_LIST(law_template, rules, &law_template_rule_schema, F_NOCOL, .max = 256, .doc = "What may leave"),
    FIELD_LIST(law_template, clocks, &law_template_clock_schema, F_NOCOL, .max = 128, .doc = "Time limits"));

static const struct law_row { const char *id, *name, *name_ar, *regulator; unsigned classes; } laws[] = {
#define LAW(id_, name_, name_ar_, classes_, regulator_) { id_, name_, name_ar_, regulator_, classes_ },
#define RULE(...)
#define CLOCK(...)
#include "tenants/home/law_template.def"
#undef LAW
#undef RULE
};
static const struct rule_row {
    const char *law;
    int data_class, may_leave;
    const char *countries, *from, *text, *text_ar;
} rules[] = {
#define LAW(...)
#define RULE(law_, class_, leave_, countries_, from_, text_, text_ar_) \
    { law_, DC_##class_, LEAVE_##leave_, countries_, from_, text_, text_ar_ },
#include "tenants/home/law_template.def"
#undef RULE
#undef CLOCK
};
static const struct clock_row { const char *law, *name; int64_t hours; const char *from, *text, *text_ar; } clocks[] = {
#define RULE(...)
#define CLOCK(law_, name_, hours_, from_, text_, text_ar_) { law_, name_, hours_, from_, text_, text_ar_ },
#include "tenants/home/law_template.def"
#undef LAW
#undef RULE
#undef CLOCK
};
enum { LAWS = sizeof laws / sizeof *laws, RULES = sizeof rules / sizeof *rules, CLOCKS = sizeof clocks / sizeof *clocks };

static struct timestamp day(struct arena *a, const char *date)
{
    struct timestamp t = { 0 };
    bool is_date = time_parse(str_fmt(a, "%sT00:00:00Z", date), &t.us);
    ASSERT(is_date);
    return t;
}

static struct slice words(struct arena *a, const char *list)
{
    struct str rest = str_c(list), *items = ARENA_ARRAY(a, struct str, rest.len / 3 + 1);
    size_t n = 0;
    for (bool more = rest.len > 0; more; n++)
        more = str_cut(rest, ',', &items[n], &rest);
    return (struct slice){ items, n };
}

static struct slice classes_of(struct arena *a, unsigned set)
{
    int *items = ARENA_ARRAY(a, int, DC_COUNT);
    size_t n = 0;
    for (int c = 0; c < DC_COUNT; c++)
        if (set >> c & 1)
            items[n++] = c;
    return (struct slice){ items, n };
}

static struct slice rules_of(struct arena *a, const char *law)
{
    struct law_template_rule *items = ARENA_ARRAY(a, struct law_template_rule, RULES);
    size_t n = 0;
    for (size_t i = 0; i < RULES; i++)
        if (!strcmp(rules[i].law, law))
            items[n++] = (struct law_template_rule){ rules[i].data_class, rules[i].may_leave, words(a, rules[i].countries),
                                                     str_c(rules[i].text), str_c(rules[i].text_ar), day(a, rules[i].from) };
    return (struct slice){ items, n };
}

static struct slice clocks_of(struct arena *a, const char *law)
{
    struct law_template_clock *items = ARENA_ARRAY(a, struct law_template_clock, CLOCKS);
    size_t n = 0;
    for (size_t i = 0; i < CLOCKS; i++)
        if (!strcmp(clocks[i].law, law))
            items[n++] = (struct law_template_clock){ str_c(clocks[i].name), clocks[i].hours, clocks[i].hours > 0,
                                                      str_c(clocks[i].text), str_c(clocks[i].text_ar), day(a, clocks[i].from) };
    return (struct slice){ items, n };
}

static struct law_template template_of(struct arena *a, const struct law_row *l)
{
    return (struct law_template){ str_c(l->id), str_c(l->name), str_c(l->name_ar), *l->regulator ? str_c(l->regulator) : STR_NULL,
                                  classes_of(a, l->classes), rules_of(a, l->id), clocks_of(a, l->id) };
}

static const struct law_row *find(struct str id)
{
    for (size_t i = 0; i < LAWS; i++)
        if (str_eq_c(id, laws[i].id))
            return &laws[i];
    return NULL;
}

struct slice law_template_list(struct arena *a, struct str after)
{
    struct law_template *items = ARENA_ARRAY(a, struct law_template, LAWS);
    const struct law_row *last = after.ptr ? find(after) : NULL;
    size_t n = 0;
    for (const struct law_row *l = last ? last + 1 : laws; l < laws + LAWS; l++)
        items[n++] = template_of(a, l);
    return (struct slice){ items, n };
}

static void add_rules(struct arena *a, struct zone_law *law, struct str id, const struct slice *from)
{
    const struct law_template_rule *r = from->items;
    struct zone_rule *all = law->rules.items;
    for (size_t i = 0; i < from->n; i++)
        all[law->rules.n++] = (struct zone_rule){ .regime = str_dup(a, id), .data_class = r[i].data_class,
            .may_leave = r[i].may_leave, .countries = r[i].countries, .source_text = r[i].source_text,
            .valid_from = r[i].valid_from };
}

static void add_clocks(struct arena *a, struct zone_law *law, struct str id, const struct slice *from)
{
    const struct law_template_clock *c = from->items;
    struct zone_clock *all = law->clocks.items;
    for (size_t i = 0; i < from->n; i++)
        all[law->clocks.n++] = (struct zone_clock){ .regime = str_dup(a, id), .name = c[i].name, .hours = c[i].hours,
            .has_hours = c[i].has_hours, .source_text = c[i].source_text, .valid_from = c[i].valid_from };
}

enum errc law_of_templates(struct arena *a, struct slice ids, struct zone_law *ret, struct err *e)
{
    const struct str *id = ids.items;
    struct zone_law law = { .legal_regimes = { ARENA_ARRAY(a, struct str, LAWS), 0 }, .regulator = STR(""), .provider = STR(""),
                            .rules = { ARENA_ARRAY(a, struct zone_rule, RULES), 0 },
                            .clocks = { ARENA_ARRAY(a, struct zone_clock, CLOCKS), 0 } };
    unsigned classes = 0;
    bool is_taken[LAWS] = { false };
    for (size_t i = 0; i < ids.n; i++) {
        const struct law_row *l = find(id[i]);
        if (!l)
            return FAIL_AT(e, UNPROCESSABLE, "/templates", "There is no template %.*s; GET /v1/residency/templates lists them",
                           STR_ARG(id[i]));
        if (is_taken[l - laws])
            continue;
        is_taken[l - laws] = true;
        struct law_template t = template_of(a, l);
        ((struct str *)law.legal_regimes.items)[law.legal_regimes.n++] = t.template_id;
        law.regulator = law.regulator.len || !t.regulator.ptr ? law.regulator : t.regulator;
        classes |= l->classes;
        add_rules(a, &law, t.template_id, &t.rules);
        add_clocks(a, &law, t.template_id, &t.clocks);
    }
    law.data_classes = classes_of(a, classes);
    *ret = law;
    return ERR_OK;
}
