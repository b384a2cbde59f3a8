/* SPDX-License-Identifier: Apache-2.0 */
/* USES: core_s3 */
/* fuzz_s3_xml.c - what an S3 store answers.
 *
 * Oracle: every element that is found lies inside of the answer, behind the one before, and its text fits. */
#include "core/s3/s3_xml.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const names[] = { "Contents", "Upload", "Key", "Code" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str rest = str_n((const char *)p, n), inner;
        const char *last = rest.ptr;
        char text[S3_TEXT];
        while (s3_xml_next(&rest, names[i], &inner)) {
            if (inner.ptr < last || inner.ptr + inner.len > rest.ptr || rest.ptr + rest.len != (const char *)p + n)
                abort();
            last = rest.ptr;
            if (s3_xml_first(inner, "Key", text) && strlen(text) >= S3_TEXT)
                abort();
            (void)s3_xml_text(inner, text);
        }
    }
    return 0;
}
