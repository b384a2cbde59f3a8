/* SPDX-License-Identifier: Apache-2.0 */
/* table_size.h - rows of the command table about what jobs ask for and which go first: flags of `falaj job submit`,
 * `falaj class` and `falaj queue`. For table.c alone. */
#pragma once

#define JOB_SIZE_FLAGS                                                                                                     \
    { "cpu-milli", 0, "N", "Thousandths of a processor (one for each slot)", NULL },                                       \
    { "memory-bytes", 0, "N", "Memory in bytes (a GiB for each slot)", NULL },                                             \
    { "gpu-milli", 0, "N", "Thousandths of one GPU, where shares are kept apart", NULL },                                  \
    { "gpu-models", 0, "A,B", "Models of GPU that will do", NULL },                                                        \
    { "class", 0, "CLASS", "Priority class", NULL },                                                                       \
    { "force-queue", 0, NULL, "Wait for a machine that could hold it, though there is none", NULL }

#define CLASS_COLUMNS                                                                                                      \
    "class:CLASS value:VALUE preemptible:PREEMPTIBLE grace_s:GRACE_S min_runtime_s:MIN_RUNTIME_S description:DESCRIPTION"
#define CLASS_COMMANDS                                                                                                     \
    { "class", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List priority classes", NULL, CMD_LIST, NULL, "GET",        \
      "/v1/classes", NULL, NULL, CLASS_COLUMNS },                                                                          \
    { "class", "get", "CLASS", 1, 1, NULL, run_rest, "Show one priority class", NULL, 0, NULL, "GET", "/v1/classes/{0}",   \
      NULL, NULL, CLASS_COLUMNS },                                                                                         \
    { "class", "set", "CLASS VALUE", 2, 2,                                                                                 \
      FLAGS({ "preemptible", 0, "BOOL", "Its jobs may be preempted (true)", "true|false" },                                \
            { "grace", 0, "SECONDS", "Time a preempted job is given (60)", NULL },                                         \
            { "min-runtime", 0, "SECONDS", "Time an attempt runs undisturbed first (0)", NULL },                           \
            { "description", 0, "TEXT", "What it is for", NULL }),                                                         \
      run_rest, "Make a priority class, or change it", "  falaj class set urgent 1000 --grace 120", 0, NULL, "PUT",        \
      "/v1/classes/{0}", NULL,                                                                                             \
      "#value=@1 %preemptible=preemptible #grace_s=grace #min_runtime_s=min-runtime description=description",              \
      CLASS_COLUMNS },                                                                                                     \
    { "class", "delete", "CLASS", 1, 1, NULL, run_rest, "Remove a priority class; its jobs count as of the value 0", NULL, \
      0, NULL, "DELETE", "/v1/classes/{0}", NULL, NULL, CLASS_COLUMNS }

#define QUEUE_COLUMNS                                                                                                      \
    "queue_id:ID name:NAME project_id:PROJECT mode:MODE stop_policy:STOP within_cluster_queue:WITHIN "                    \
    "reclaim_within_cohort:RECLAIM"
#define QUEUE_FLAGS                                                                                                        \
    { "mode", 0, "MODE", "Whether a job that finds no place holds up those behind it", "StrictFIFO|BestEffortFIFO" },     \
    { "stop", 0, "POLICY", "Hold: no job starts; HoldAndDrain: running jobs go back", "None|Hold|HoldAndDrain" },         \
    { "within", 0, "POLICY", "Which of its own running jobs make room",                                                   \
      "Never|LowerPriority|LowerOrNewerEqualPriority" },                                                                  \
    { "reclaim", 0, "POLICY", "Which jobs of borrowers make room when it is owed its own", "Never|LowerPriority|Any" }
#define QUEUE_BODY "mode=mode stop_policy=stop within_cluster_queue=within reclaim_within_cohort=reclaim"
#define QUEUE_COMMANDS                                                                                                     \
    { "queue", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List the queues that were declared", NULL, CMD_LIST, NULL, \
      "GET", "/v1/queues", NULL, NULL, QUEUE_COLUMNS },                                                                   \
    { "queue", "get", "QUEUE", 1, 1, NULL, run_rest, "Show one queue", NULL, 0, &queue_noun, "GET", "/v1/queues/{0}",     \
      NULL, NULL, QUEUE_COLUMNS },                                                                                        \
    { "queue", "create", "NAME", 1, 1,                                                                                 \
      FLAGS({ "project", 0, "PROJECT", "Of this project's jobs (prj_…)", NULL }, QUEUE_FLAGS),                            \
      run_rest, "Declare a queue", "  falaj queue create night --mode StrictFIFO --reclaim Any", 0, NULL, "POST",         \
      "/v1/queues", NULL, "name=@0 &project_id=project " QUEUE_BODY, QUEUE_COLUMNS },                                      \
    { "queue", "set", "QUEUE", 1, 1, FLAGS(QUEUE_FLAGS), run_rest, "Change a queue; what is not given stays",             \
      "  falaj queue set night --stop Hold", 0, &queue_noun, "PATCH", "/v1/queues/{0}", NULL, QUEUE_BODY, QUEUE_COLUMNS },  \
    { "queue", "delete", "QUEUE", 1, 1, NULL, run_rest, "Forget what was declared of a queue; its jobs and rules stay",   \
      NULL, 0, &queue_noun, "DELETE", "/v1/queues/{0}", NULL, NULL, QUEUE_COLUMNS },                                      \
    { "queue", "share", "QUEUE", 1, 1, NULL, cmd_queue_share,                                                             \
      "What a queue has, uses, borrows and lends, and its fair part", NULL, 0, &queue_noun, "GET",                        \
      "/v1/queues/{0}/share", NULL, NULL,                                                                                 \
      "name:NAME share:SHARE waiting_jobs:WAITING usage_permille:USAGE_PERMILLE sentence:SENTENCE" }
