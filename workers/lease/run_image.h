/* SPDX-License-Identifier: Apache-2.0 */
/* run_image.h - the image that a program runs in, from its sealed archive into the box's scratch, where it becomes the root.
 *
 * All of it is done by the lease's watcher in its own namespaces, before the program begins: as an account that owns nothing,
 * without capabilities, onto a file system in memory that ends with the lease. So an image lies nowhere in the clear, and what
 * it takes counts as the lease's memory: the archive while it is unpacked, and its content. One that this machine has unpacked
 * before for the tenant comes from the agent's memory instead (image_cache.h), checked as it was then. Errors: those of oci.h, of
 * child.h. */
#pragma once
#include "core/wire/type_run.h"
#include "workers/image/oci.h"
#include "workers/lease/child.h"

/* Is this input of the lease its image? */
bool run_image_is(const struct lease_input *about);
/* Input i, decrypted into a file without a name on the scratch. */
MUST_CHECK enum errc run_image_archive(struct child *c, size_t i, int root, int *ret, struct err *e);
/* root: the scratch of the box; bytes, files: the most that an image may be. ret->layers 0: the job runs in the machine's
 * /usr. */
MUST_CHECK enum errc run_image_open(struct child *c, const struct run_job *job, int root, const struct oci_limits *most,
                                    struct oci_image *ret, struct err *e);
