/* SPDX-License-Identifier: Apache-2.0 */
/* USES: core_json core_wire */
/* fuzz_lease_wire.c - what a worker sends to the API and the API to a worker, from an attacker who is the other end.
 *
 * The first byte chooses the message. What is read must print to text that reads back to the same text, and a copy of it must print alike. */
#include <stdlib.h>

#include "core/base/assert.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/enrol_wire.h"
#include "core/wire/job_result.h"
#include "core/wire/lease_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct { const struct schema *s; bool is_reply; } messages[] = {
    { &lease_report_in_schema, false }, { &lease_next_out_schema, true }, { &lease_report_out_schema, true }, { &lease_keys_in_schema, false },
    { &lease_keys_out_schema, true }, { &lease_output_in_schema, false }, { &lease_output_out_schema, true }, { &node_register_schema, false },
    { &node_registered_schema, true }, { &lease_next_in_schema, false }, { &enrol_in_schema, false }, { &enrol_out_schema, true },
    { &train_figures_schema, false }, { &lease_kept_in_schema, false }, { &lease_kept_out_schema, true },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1 << 16)
        return 0;
    size_t m = data[0] % (sizeof messages / sizeof *messages);
    const struct schema *s = messages[m].s;
    struct arena *a = arena_new(16 << 20);
    struct buf first = BUF(1 << 22), second = BUF(1 << 22);
    struct err e;
    void *one = arena_alloc(a, s->size), *two = arena_alloc(a, s->size);
    enum errc rc = (messages[m].is_reply ? json_decode_reply : json_decode)(s, str_n((const char *)data + 1, size - 1), a, one, &e);
    if (rc == ERR_OK) {
        void *copy = schema_copy_new(s, one);
        json_encode(s, copy, &first);
        free(copy);
        ASSERT(!first.overflow && str_is_utf8(buf_str(&first)));
        rc = json_decode(s, buf_str(&first), a, two, &e);
        ASSERT(rc == ERR_OK || rc == ERR_MISSING_FIELD);        /* an id of zeros alone counts as absent */
        if (rc == ERR_OK)
            json_encode(s, two, &second);
        ASSERT(rc != ERR_OK || str_eq(buf_str(&first), buf_str(&second)));
    }
    buf_release(&first);
    buf_release(&second);
    arena_free(a);
    return 0;
}
