/* SPDX-License-Identifier: Apache-2.0 */
/* kube_read.h - what a kube-apiserver says, read. Pure but for the arena.
 *
 * A run is one Job and its pods; what it is comes from both: a Job says that it has begun and how it ended, its pods say what
 * they wait for, why they failed, and whether one still lives after the Job's end. Traps that were met: an ended Job's pods may
 * still be ending; a pod of a node that went away is Running for minutes, its condition Ready False; a list of a namespace that
 * is not there is empty and no error (so health asks for a dry run); a Job makes another pod for one that was deleted. */
#pragma once
#include "scheduler/engines/engine.h"

struct jval;
enum { KUBE_OBJECTS_MAX = 5000 };

/* The object of an answer of 2xx. UPSTREAM: no JSON object, or a status of no use (401, 403, 429, 5xx); INVALID: it refused what
 * was sent (400, 404, 422, and 403 where is_submit) with its words: nothing was taken. A name that is there (409) is UPSTREAM. */
enum errc kube_read(struct arena *a, int status, struct str body, bool is_submit, const struct jval **ret,
                    struct err *e) MUST_CHECK;
/* OK as well where there is none (404). */
enum errc kube_read_gone(struct arena *a, int status, struct str body, struct err *e) MUST_CHECK;
/* What the pods of each run come to, from an answer of their list; kept in a. */
struct kube_pods;
enum errc kube_read_pods(struct arena *a, int status, struct str body, int64_t now_us, const struct kube_pods **ret,
                         struct err *e) MUST_CHECK;
/* struct engine_seen of Jobs that have our names, from an answer of their list, which was asked for behind that of the pods: a
 * Job that has ended since is one whose pods still live, and the next look tells more. Kept in a: neither text is needed any
 * more. */
enum errc kube_read_runs(struct arena *a, int status, struct str body, const struct kube_pods *pods, struct slice *ret,
                         struct err *e) MUST_CHECK;
