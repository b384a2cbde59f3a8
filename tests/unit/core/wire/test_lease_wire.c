/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_wire.c - what one end writes, the other reads: any value of every message survives the way there and back.
 *
 * The values are drawn by the schema itself, each field within its limits, so a field that is added is drawn, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/enrol_wire.h"
#include "core/wire/lease_wire.h"

static const struct { const struct schema *s; bool is_reply, is_query; } messages[] = {
    { &node_register_schema, false, false }, { &node_registered_schema, true, false },
    { &lease_next_in_schema, false, false }, { &lease_next_out_schema, true, false },
    { &lease_report_in_schema, false, false }, { &lease_report_out_schema, true, false },
    { &lease_keys_in_schema, false, false }, { &lease_keys_out_schema, true, false },
    { &lease_kept_in_schema, false, false }, { &lease_kept_out_schema, true, false },
    { &lease_output_in_schema, false, false }, { &lease_output_out_schema, true, false },
    { &lease_object_ref_schema, false, true }, { &lease_upload_in_schema, false, true },
    { &enrol_in_schema, false, false }, { &renew_in_schema, false, false }, { &enrol_out_schema, true, false },
};
enum { MESSAGES = sizeof messages / sizeof *messages, ROUNDS = 100 };

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static struct str draw_text(struct arena *a, const struct field *f, bool is_item)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char *const odd[] = { "\"", "\\", "\x01", "\n", " ", "&", "=", "%", "+", "/", "\xc3\xa9", "\xd8\xaf", "\xf0\x9f\x98\x80" };
    int64_t min = is_item ? 0 : field_min(f), max = is_item ? 20 : field_max(f);
    min = f->check && !min ? 1 : min;
    int64_t n = min + (int64_t)draw((uint64_t)(max - min < 40 ? max - min : 40) + 1);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    for (int64_t i = 0; i < n; i++)
        if (f->check || draw(4))
            buf_add_char(&b, plain[draw(36)]);
        else
            buf_add_c(&b, odd[draw(sizeof odd / sizeof *odd)]);
    return str_dup(a, buf_str(&b));
}

static int64_t draw_int(const struct field *f)
{
    int64_t min = field_min(f), max = field_max(f);
    uint64_t span = (uint64_t)max - (uint64_t)min;
    switch (draw(4)) {
    case 0: return min;
    case 1: return max;
    default: return (int64_t)((uint64_t)min + (span ? draw(span < 1000 ? span : 1000) : 0));
    }
}

static void draw_struct(struct arena *a, const struct schema *s, void *base);

static void draw_value(struct arena *a, const struct field *f, enum ftype type, bool is_item, void *p)
{
    struct uuid u = { { 0 } };
    size_t names = 0;
    char *bytes;
    switch (type) {
    case FT_BOOL: *(bool *)p = draw(2); break;
    case FT_I64: *(int64_t *)p = is_item ? (int64_t)draw(1000) : draw_int(f); break;
    case FT_STR: *(struct str *)p = draw_text(a, f, is_item); break;
    case FT_TIME: ((struct timestamp *)p)->us = (int64_t)(1 + draw(1u << 30)) * 1000000; break;
    case FT_UUID:
        for (size_t i = 0; i < sizeof u.b; i++)
            u.b[i] = (uint8_t)(1 + draw(255));
        *(struct uuid *)p = u;
        break;
    case FT_ENUM:
        while (f->names[names])
            names++;
        *(int *)p = (int)draw(names);
        break;
    case FT_JSON: ((struct json *)p)->text = draw(2) ? STR("{\"a\" : [1.50,\"]\"]}") : STR("{}"); break;
    case FT_BYTES:
        bytes = arena_alloc(a, (size_t)field_min(f) + 40);
        for (int64_t i = 0; i < field_min(f) + 39; i++)
            bytes[i] = (char)draw(256);
        ((struct bytes *)p)->data = str_n(bytes, (size_t)field_min(f) + (field_max(f) > field_min(f) + 39 ? (size_t)draw(39) + !field_min(f) : 0));
        break;
    case FT_SUB: draw_struct(a, f->sub, p); break;
    default: fail_msg("field %s is of a type that the wire has not had", f->name);
    }
}

static void draw_struct(struct arena *a, const struct schema *s, void *base)
{
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        bool is_absent = !(f->flags & F_REQ) && !f->dflt && draw(3) == 0;
        if ((f->flags & (F_PATH | F_NOIN)) || is_absent)
            continue;
        if (f->type == FT_LIST) {
            size_t n = (size_t)field_min(f) + (size_t)draw(4), size = ftype_size(f);
            char *items = arena_alloc(a, n * size + 1);
            for (size_t k = 0; k < n; k++)
                draw_value(a, f, f->item, true, items + k * size);
            *(struct slice *)field_at(f, base) = (struct slice){ items, n };
        } else {
            draw_value(a, f, f->type, false, field_at(f, base));
        }
        field_set_has(f, base, true);
    }
}

static void print(size_t m, const void *obj, struct buf *out)
{
    buf_clear(out);
    if (messages[m].is_query)
        schema_to_query(messages[m].s, obj, out);
    else
        json_encode(messages[m].s, obj, out);
    assert_false(out->overflow);
}

static enum errc read_back(size_t m, struct str text, struct arena *a, void *ret, struct err *e)
{
    if (messages[m].is_query)
        return schema_from_query(messages[m].s, str_n(text.ptr + 1, text.len - 1), ret, a, e);
    return messages[m].is_reply ? json_decode_reply(messages[m].s, text, a, ret, e) : json_decode(messages[m].s, text, a, ret, e);
}

static void every_message_survives_the_way(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf sent = BUF(1 << 20), again = BUF(1 << 20);
    for (size_t i = 0; i < MESSAGES * ROUNDS; i++) {
        size_t m = i % MESSAGES;
        struct err e = { 0 };
        CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
        void *one = arena_alloc(a, messages[m].s->size), *two = arena_alloc(a, messages[m].s->size);
        draw_struct(a, messages[m].s, one);
        print(m, one, &sent);
        if (read_back(m, buf_str(&sent), a, two, &e) != ERR_OK)
            fail_msg("%s: %s at %s\n%s", messages[m].s->name, e.msg, e.field, sent.ptr);
        print(m, two, &again);
        assert_string_equal(sent.ptr, again.ptr);
    }
}

/* A member that an end cannot do without is missed there, not read as nothing. */
static void what_is_needed_is_missed(void **state)
{
    (void)state;
    size_t seen = 0;
    for (size_t m = 0; m < MESSAGES; m++)
        for (size_t f = 0; f < messages[m].s->nfields; f++) {
            const struct field *field = &messages[m].s->fields[f];
            struct err e = { 0 };
            CLEANUP(buf_releasep) struct buf text = BUF(1 << 20);
            CLEANUP(arena_freep) struct arena *a = arena_new(8 << 20);
            if (!(field->flags & F_REQ) || (field->flags & F_PATH))
                continue;
            struct field fields[64];
            memcpy(fields, messages[m].s->fields, messages[m].s->nfields * sizeof *fields);
            memmove(fields + f, fields + f + 1, (messages[m].s->nfields - f - 1) * sizeof *fields);
            const struct schema less = { messages[m].s->name, messages[m].s->size, fields, messages[m].s->nfields - 1, "less" };
            void *one = arena_alloc(a, less.size), *two = arena_alloc(a, less.size);
            draw_struct(a, messages[m].s, one);
            if (messages[m].is_query)
                schema_to_query(&less, one, &text);
            else
                json_encode(&less, one, &text);
            assert_int_equal(read_back(m, buf_str(&text), a, two, &e), ERR_MISSING_FIELD);
            seen++;
        }
    assert_true(seen > 30);
}

static void the_schemas_are_whole(void **state)
{
    (void)state;
    for (size_t m = 0; m < MESSAGES; m++) {
        struct err e = { 0 };
        if (schema_check_table(messages[m].s, &e) != ERR_OK)
            fail_msg("%s", e.msg);
    }
    for (int i = 0; i < LE_COUNT; i++)
        assert_non_null(lease_event_names[i]);
    assert_null(lease_event_names[LE_COUNT]);
    assert_string_equal(lease_event_names[LE_PREEMPT], "preempt");
    assert_string_equal(lease_output_kinds[LO_ARTIFACT], "artifact");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_message_survives_the_way), cmocka_unit_test(what_is_needed_is_missed),
                                        cmocka_unit_test(the_schemas_are_whole) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
