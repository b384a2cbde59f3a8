/* SPDX-License-Identifier: Apache-2.0 */
/* USES: tenants */
/* fuzz_scim_filter.c - SCIM filters and PATCH paths out of arbitrary text, and a whole PATCH when the text is JSON.
 *
 * Oracle: what is taken can be judged, an index key that is found is true of every match, and the tree after a PATCH prints as JSON that
 * reads back the same. */
#include <stdint.h>
#include "core/base/assert.h"
#include "tenants/identity/scim_patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sval *sample(struct arena *a)
{
    static const char json[] = "{\"userName\":\"a\",\"name\":{\"givenName\":\"g\"},\"active\":true,\"emails\":[{\"value\":\"x\",\"type\":\"work\"},{\"value\":\"y\"}]}";
    const struct jval *v;
    struct sval *t;
    struct err e;
    ASSERT(jval_parse(a, str_c(json), 0, &v, &e) == ERR_OK && sval_resource(a, &scim_user_resource, v, SVAL_INPUT, &t, &e) == ERR_OK);
    return t;
}

static void patch(struct arena *a, struct str text)
{
    const struct jval *body, *printed;
    struct sval *t = sample(a), *again;
    struct buf b = BUF(4 << 20);
    struct err e;
    if (jval_parse(a, text, 0, &body, &e) == ERR_OK && scim_patch(a, &scim_user_resource, body, t, &e) == ERR_OK) {
        sval_print_value(t, &b);
        ASSERT(jval_parse(a, buf_str(&b), 0, &printed, &e) == ERR_OK);
        ASSERT(sval_resource(a, &scim_user_resource, printed, SVAL_STORED, &again, &e) == ERR_OK && sval_eq(t, again));
    }
    buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(256 << 20);
    struct str text = str_n((const char *)data, size);
    const struct sfilter *f;
    struct scim_path path;
    struct err e;
    if (size > 1 << 16) {
        arena_free(a);
        return 0;
    }
    if (sfilter_parse(a, scim_user_resource.attrs, str_c(scim_user_resource.urn), text, &f, &e) == ERR_OK) {
        struct sval *t = sample(a);
        struct str key = sfilter_key(f, "userName", NULL);
        if (sfilter_match(f, t) && key.ptr)
            ASSERT(scim_name_eq(key, STR("a")));
    }
    if (scim_path_parse(a, &scim_user_resource, text, &path, &e) == ERR_OK)
        ASSERT(path.attr && (!path.items || path.attr->multi));
    patch(a, text);
    arena_free(a);
    return 0;
}
