/* SPDX-License-Identifier: Apache-2.0 */
/* s3_xml.h - the few elements that are wanted of S3's answers, read from the front. Pure; nothing is allocated.
 *
 * Only what S3 sends is understood: elements without attributes that are looked at, text with the five named entities and
 * decimal or hexadecimal character references. No document type, no processing but the first line's, no CDATA.
 * Source: Amazon S3 API Reference, ListObjectsV2, ListMultipartUploads, CreateMultipartUpload, Error. */
#pragma once
#include "core/base/str.h"

enum { S3_TEXT = 1100 };        /* a key has at most 1,024 bytes */

/* The text of the next element <name> in *rest, which moves behind it. False: there is none, or it is not as above. */
bool s3_xml_next(struct str *rest, const char *name, struct str *ret_inner);
/* Text of an element without children; false when it has some, or is longer than out. */
bool s3_xml_text(struct str inner, char out[S3_TEXT]);
/* The text of the first <name> in inner; false: none. */
bool s3_xml_first(struct str inner, const char *name, char out[S3_TEXT]);
