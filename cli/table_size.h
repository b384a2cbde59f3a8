/* SPDX-License-Identifier: Apache-2.0 */
/* table_size.h - rows of the command table about what jobs ask for and which go first: flags of `falaj job submit`, and
 * `falaj class`. For table.c alone. */
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
