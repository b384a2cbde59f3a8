/* SPDX-License-Identifier: Apache-2.0 */
/* USES: core_json */
/* fuzz_json_decode.c - a body or a query string of an attacker's choice, into a schema with a field of every kind.
 *
 * The first byte chooses the reader. What json_decode accepts must encode to text that decodes to the same text again. */
#include <stdlib.h>

#include "core/base/assert.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"

struct part {
    struct str name;
    int64_t bytes;
};

struct body {
    struct uuid job_id;
    struct str name, who;
    int state;
    bool is_urgent;
    int32_t priority;
    int64_t seed;
    bool has_seed;
    double ratio;
    struct timestamp made_at;
    struct json params;
    struct bytes blob;
    struct part part;
    struct slice parts, tags, rates, counts, ids, states;
    struct str q;
    struct slice qs;
};

static const char *const names[] = { "queued", "running", NULL };

SCHEMA_OF(part, "Part", FIELD(part, name, F_REQ, .min = 1, .doc = "Name"), FIELD(part, bytes, 0, .doc = "Size"));
SCHEMA_OF(body, "Body", FIELD_ID(body, job_id, "job", 0, .doc = "d"), FIELD(body, name, 0, .check = check_name, .doc = "d"),
          FIELD(body, who, 0, .check = check_slug, .doc = "d"), FIELD_ENUM(body, state, 0, names, .doc = "d"),
          FIELD(body, is_urgent, 0, .doc = "d"), FIELD(body, priority, 0, .doc = "d"), FIELD_OPT(body, seed, 0, .doc = "d"),
          FIELD(body, ratio, 0, .doc = "d"), FIELD(body, made_at, 0, .doc = "d"), FIELD(body, params, 0, .doc = "d"),
          FIELD(body, blob, 0, .doc = "d"), FIELD_SUB(body, part, &part_schema, 0, .doc = "d"),
          FIELD_LIST(body, parts, &part_schema, 0, .doc = "d"), FIELD_STRS(body, tags, 0, .doc = "d"),
          FIELD_F64S(body, rates, 0, .doc = "d"), FIELD_I64S(body, counts, 0, .doc = "d"), FIELD_IDS(body, ids, "job", 0, .doc = "d"),
          FIELD_ENUMS(body, states, 0, names, .doc = "d"), FIELD(body, q, F_QUERY, .doc = "d"), FIELD_STRS(body, qs, F_QUERY, .doc = "d"));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void body_round_trip(struct arena *a, struct str text)
{
    struct body one = { 0 }, two = { 0 };
    struct err e;
    if (json_decode(&body_schema, text, a, &one, &e) != ERR_OK)
        return;
    struct buf first = BUF(1 << 22), second = BUF(1 << 22);
    json_encode(&body_schema, &one, &first);
    if (!first.overflow) {
        ASSERT(str_is_utf8(buf_str(&first)));
        ASSERT(json_decode(&body_schema, buf_str(&first), a, &two, &e) == ERR_OK);
        json_encode(&body_schema, &two, &second);
        ASSERT(str_eq(buf_str(&first), buf_str(&second)));
    }
    buf_release(&first);
    buf_release(&second);
}

static void free_form(struct arena *a, struct str text)
{
    const struct jval *v;
    struct err e;
    float f[16];
    struct buf b = BUF(1 << 20);
    if (jval_parse(a, text, 0, &v, &e) != ERR_OK)
        return;
    (void)!jval_to_f32(v, f, 16, &e);
    jval_encode(v, true, &b);
    for (struct jval_iter it = jval_iter(v); jval_next(&it);)
        jval_count_numbers(it.value);
    buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16)
        return 0;
    struct arena *a = arena_new(16 << 20);
    struct str text = str_n((const char *)data + 1, size - 1);
    struct body q = { 0 };
    struct err e;
    if (data[0] % 3 == 0)
        body_round_trip(a, text);
    else if (data[0] % 3 == 1)
        (void)!schema_from_query(&body_schema, text, &q, a, &e);
    else
        free_form(a, text);
    arena_free(a);
    return 0;
}
