/* SPDX-License-Identifier: Apache-2.0 */
/* kube_same.h - whether what a server stored is what was sent. Pure.
 *
 * Old servers drop members that they do not know without a word (spec.suspend before 1.21), and webhooks change what they
 * like. So each member that was sent must stand in the answer with its value; more than was sent may stand there (defaults).
 * Lists have the same length. Quantities (below "requests" and "limits") are compared as numbers: "1024Mi" is stored as "1Gi". */
#pragma once
#include "core/json/jsonvalue.h"

/* STR_NULL: the same; else the path of the first that differs, as "spec.template.spec.containers[0].image". */
struct str kube_differs(struct arena *a, const struct jval *sent, const struct jval *stored);
/* A quantity in thousandths of its unit, at most INT64_MAX; -1: none. Source: Kubernetes, resource.Quantity. */
int64_t kube_quantity(struct str s);
