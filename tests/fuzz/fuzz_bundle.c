/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_bundle.c - arbitrary bytes as a bundle, in reads of every size: no crash, no verdict "ok" without a signature. */
/* USES: core_base core_crypto audit_pure */
#include <stdlib.h>
#include <string.h>
#include "audit/bundle.h"
#include "audit/record.h"
#include "audit/verify.h"

struct input {
    const uint8_t *p;
    size_t n, step;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ssize_t read_input(void *ctx, void *p, size_t n)
{
    struct input *in = ctx;
    n = n > in->step ? in->step : n;
    n = n > in->n ? in->n : n;
    if (n)
        memcpy(p, in->p, n);
    in->p += n;
    in->n -= n;
    return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t pinned[1][AUDIT_PUB];
    struct input in = { data, size, size ? 1 + data[0] : 1 };
    struct verify_opts opts = { .pinned = pinned, .pinned_count = size % 2, .trust_embedded = true };
    struct verify_result r;
    struct str text = str_n((const char *)data, size);
    struct audit_opening opening;
    struct audit_head head;
    struct bundle_record record;
    struct bundle_head checkpoint;
    struct bundle_end end;
    if (audit_verify(read_input, &in, &opts, &r) == 0 && opts.pinned_count)
        abort();
    (void)!audit_event_opening(text, &opening);
    (void)!audit_head_decode(text, &head);
    (void)!bundle_record_decode(text, &record);
    (void)!bundle_checkpoint_decode(text, &checkpoint);
    (void)!bundle_end_decode(text, &end);
    return 0;
}
