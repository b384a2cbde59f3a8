/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - what lies in a folder as one run of bytes, and back: the checkpoint of a program.
 *
 *     "FJFOLDR1" | i64 step | entries: u32 length of path, u32 mode (0644 or 0755), i64 size, path, bytes | u32 0
 *
 * Numbers little endian; paths relative, by run_path_is_good. Plain files only, and the folders that they need: links, pipes and
 * sockets
 * are left out and counted. Names that end with .tmp are left out too: who writes a file under such a name and renames it is
 * never caught in between. The folder is a stranger's, and so are the bytes: nothing is followed, every length is checked.
 * Errors: LIMIT (more than FOLDER_FILES_MAX files, deeper than FOLDER_DEPTH_MAX, or longer than the buffer takes), DAMAGED, IO.
 * */
#pragma once
#include <stdint.h>
#include "core/base/err.h"
#include "core/base/str.h"

enum { FOLDER_FILES_MAX = 10000, FOLDER_DEPTH_MAX = 16 };

struct folder_about {
    uint64_t mark;                  /* of names, sizes and times: as long as nobody writes it is the same */
    size_t files, left_out;
};
MUST_CHECK enum errc folder_look(int dir, struct folder_about *ret, struct err *e);
MUST_CHECK enum errc folder_pack(int dir, int64_t step, struct buf *out, struct err *e);
/* Into an empty folder; what was written before an error stays there. */
MUST_CHECK enum errc folder_unpack(int dir, struct str bytes, int64_t *ret_step, struct err *e);
void folder_empty(int dir);
/* A plain file below dir by its path; no link on the way is followed. NOT_FOUND, UNPROCESSABLE (no plain file). */
MUST_CHECK enum errc folder_open(int dir, struct str path, int *ret_fd, int64_t *ret_size, struct err *e);
