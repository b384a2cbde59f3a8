/* SPDX-License-Identifier: Apache-2.0 */
/* kube_text.h - what is said to a kube-apiserver: a Job of batch/v1 for a run, and the Secret with its tokens. Pure.
 *
 * One Job, one pod for each machine of the run, all alike (kube_script.h). Where the row names a place it is Kueue's LocalQueue:
 * the Job is created suspended with its label, numbered, and Kueue lets all its pods begin or none. Else they begin as there is
 * room, and that none of them works before all are there is our own gangs' rule.
 * Limits of time are the pod's, which count from its start: the Job's would count while it waits.
 * Source: Kubernetes API reference 1.20 and 1.32 (Job, Secret, DeleteOptions), Kueue's documentation (queue-name). */
#pragma once
#include "scheduler/engines/engine.h"

#define KUBE_LABEL "app.kubernetes.io/managed-by"
#define KUBE_OWNER "falaj"
#define KUBE_RUN "falaj/run"
#define KUBE_DIGEST "falaj/digest"
#define KUBE_QUEUE "kueue.x-k8s.io/queue-name"
#define KUBE_GPU "nvidia.com/gpu"
/* The ConfigMap with the worker's settings, which the operator makes (deploy/kubernetes/engine). */
#define KUBE_SETTINGS "falaj-worker"
enum { KUBE_UID = 10004, KUBE_GID = 10000, KUBE_GRACE_S = 60 };

/* Bytes that the folder of a pod's worker may hold, on its node's disk: the sealed objects of the lease and its checkpoint, which
 * are read into memory, so some times that of the job; the worker's own files are the least. 0: no limit, for the job says no
 * memory. */
enum { KUBE_WORK_TIMES = 4, KUBE_WORK_LEAST = 1 << 30 };
int64_t kube_work_most(const struct engine_ask *ask);
void kube_job_body(const struct engine_ask *ask, struct buf *out);
/* The values of ask's secret variables; it has the Job's name. */
void kube_secret_body(const struct engine_ask *ask, struct buf *out);
