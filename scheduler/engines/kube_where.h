/* SPDX-License-Identifier: Apache-2.0 */
/* kube_where.h - what an engine's row says of pods as text: image, nodes and taints. Pure.
 *
 * image: NAME@sha256:64 hex digits, since a tag may come to mean another program. selector: KEY=VALUE,… as kubectl takes it.
 * tolerations: KEY[=VALUE]:EFFECT,… as kubectl's taints are written; EFFECT one of NoSchedule, PreferNoSchedule, NoExecute.
 * Keys and values are Kubernetes' (labels: letters, digits, '.', '_', '-', and one '/' in a key). Empty text: none. */
#pragma once
#include "core/base/str.h"

enum { KUBE_PAIRS_MAX = 16 };

bool kube_image_check(struct str s, const char **why);
bool kube_selector_check(struct str s, const char **why);
bool kube_tolerations_check(struct str s, const char **why);
/* DNS label: a namespace. */
bool kube_namespace_check(struct str s);
/* JSON: an object of the pairs, a list of tolerations. Text that was not checked gives what it can. */
void kube_selector_json(struct str s, struct buf *out);
void kube_tolerations_json(struct str s, struct buf *out);
