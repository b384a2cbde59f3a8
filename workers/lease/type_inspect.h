/* SPDX-License-Identifier: Apache-2.0 */
/* type_inspect.h - what an import does once the archive lies in the box, wherever it came from: unpacks it as a lease would, and
 * says what is in it. Errors: those of oci.h. */
#pragma once
#include "core/wire/job_result.h"
#include "workers/lease/child.h"

enum { INSPECT_FILES = 512 /* descriptors */, INSPECT_IMAGE_FILES = 500000, INSPECT_EXTRA_FILES = 1000 };

/* root: the box's scratch; digest empty: the archive's only image. */
MUST_CHECK enum errc inspect_archive(struct child *c, int root, int archive, struct str digest, bool allow_setuid,
                                     struct inspect_figures *ret, struct err *e);
/* The end of such a job. */
MUST_CHECK enum errc inspect_tell(struct inspect_figures *figures, int64_t began_us, struct err *e);
