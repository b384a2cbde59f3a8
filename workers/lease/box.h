/* SPDX-License-Identifier: Apache-2.0 */
/* box.h - a program of a tenant's in namespaces of its own, under bubblewrap; this process watches over it from outside.
 *
 * box_open turns the lease's process into the watcher: it gives up what it does not need, takes the lease's account, and enters
 * a user,
 * mount and network namespace with a scratch in memory that nobody else sees and that ends with its last process, however that
 * ends; what is decrypted lies nowhere else. box_start runs bwrap(1) in it, which makes all namespaces anew for the program: it
 * is
 * another account of another namespace, so it reaches neither the watcher nor its keys, and has no network but a loopback.
 * A program on several machines has the watcher's network, in which there is nothing but a loopback and the interface to the
 * others; its account has no power over that.
 * The scratch counts as memory of the lease and ends at its own limit of bytes and files.
 *
 *   with an image its files, writable, a copy of this lease's alone; else
 *   /usr (read-only, and /bin /lib … as links), /etc of a few files, /proc, /dev of the harmless devices and the lease's GPUs
 *   /falaj/in /falaj/code /falaj/secrets read-only; /falaj/out /falaj/checkpoint /falaj/scratch /tmp /dev/shm writable;
 * nothing else is
 *
 * Calling order: box_open -> files below box.root -> box_start -> (box_signal, box_ended)* -> box_close. One thread until
 * box_start.
 * Errors: UNPROCESSABLE (this machine cannot), IO. Sources: bwrap(1), user_namespaces(7), mount_namespaces(7). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "workers/lease/sandbox.h"

#define BOX_IN "in"
#define BOX_CODE "code"
#define BOX_SECRETS "secrets"
#define BOX_IMAGE "image"        /* the root, where there is an image */
#define BOX_OUT "out"
#define BOX_CHECKPOINT "checkpoint"
#define BOX_NO_PROGRAMS "this machine runs no programs: "      /* how box_open's words begin where it cannot */
enum { BOX_METRICS_FD = 3 };

/* What the watcher reads of the program. */
enum box_pipe { BOX_STDOUT, BOX_STDERR, BOX_METRICS, BOX_STATUS, BOX_PIPES };

/* Of a program on several machines: how it reaches the others (gang_net.h). */
struct box_net {
    const char *device;
    int rank, nodes;
};

struct box {
    int root;                       /* the scratch, a directory */
    int net;                        /* its packets (gang_net.h); -1: it has a loopback alone, or somebody has taken them over */
    bool has_net;
    int rank;                       /* of a program on several machines */
    int pipes[BOX_PIPES];           /* -1: not yet, or closed by who has read it to its end */
    int input;                      /* writes to its standard input; -1: it has none, or that is closed */
    pid_t outer, inner;             /* bwrap, and the first process of the program's namespace */
};

struct box_program {
    const struct str *command;
    size_t ncommand;
    const struct str *env;          /* NAME=VALUE, later ones win */
    size_t nenv;
    struct str workdir;
    bool has_image;                 /* BOX_IMAGE is its root */
    bool takes_input;               /* standard input is a pipe (box.input); else nothing can be read there */
    uint64_t devices;               /* GPUs, bit m for /dev/nvidia<m> */
};

/* Places that something is put on in a box: folders, or files. What an image has there must be such, and no link
 * (unpack_place). */
struct box_place { const char *path; bool is_folder; };
extern const struct box_place box_places[];      /* ended by a path NULL */

/* scratch_bytes, scratch_files: the most that lies in it. net: NULL: it reaches nobody. */
MUST_CHECK enum errc box_open(const struct sandbox *s, int64_t scratch_bytes, int64_t scratch_files, const struct box_net *net,
    struct box *ret, struct err *e);
MUST_CHECK enum errc box_start(struct box *b, struct arena *a, const struct box_program *p, struct err *e);
/* To the program and what it started in its own group. */
void box_signal(const struct box *b, int signal_number);
/* True, once: it has ended, and everything in its namespace with it. */
bool box_ended(struct box *b);
void box_close(struct box *b);
