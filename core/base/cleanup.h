/* SPDX-License-Identifier: Apache-2.0 */
/* cleanup.h - scope-bound ownership of handles.
 *
 *     CLEANUP(fd_closep) int fd = open(…);
 *     CLEANUP(buf_releasep) struct buf b = BUF(4096);
 *     *ret = TAKE(ptr);          hands a pointer on: ptr becomes NULL and its cleanup does nothing
 *     return TAKE_FD(fd);        the same for descriptors, -1 being "none" */
#pragma once
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define TAKE(p) ({ __typeof__(p) take_ = (p); (p) = NULL; take_; })
#define TAKE_FD(fd) ({ int take_ = (fd); (fd) = -1; take_; })

static inline void fd_closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
