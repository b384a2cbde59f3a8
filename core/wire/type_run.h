/* SPDX-License-Identifier: Apache-2.0 */
/* type_run.h - the spec of a job that runs a program of the tenant's, and what a box calls the places of its data. */
#pragma once
#include "core/base/id.h"
#include "core/wire/job_type.h"

enum { RUN_WORDS_MAX = 64, RUN_ENV_MAX = 64, RUN_INPUTS_MAX = 12, RUN_OUTPUTS_MAX = 16, RUN_SECRETS_MAX = 8,
    RUN_SCRIPT_MAX = 32768,
    RUN_PATH_MAX = 255,
       RUN_GRACE_MAX_S = 600, RUN_AGAIN = 75 /* exit status that asks to be queued again (sysexits.h: EX_TEMPFAIL) */ };

/* What it runs in: the machine's own /usr ("host", where its operator permits it: worker.programs), or an image, which is a
 * version of a data set of the format oci: "dst_…[@VERSION]", or "dst_…[@VERSION]/sha256:…" with the digest that its manifest
 * must have. Submissions may name an environment (scheduler/jobs/environment.h) as well: "env_…", "NAME", "NAME@sha256:…" or
 * "sha256:…", for which what it means by then is written into the spec: a job knows data sets and digests alone. An image
 * that the platform's staff publish to all (scheduler/jobs/environment_shared.h) is "shared/sha256:…", and stays so: it is no
 * data set of the tenant's. */
struct run_environment {
    bool is_host, is_named;         /* is_named: an environment */
    bool is_shared;                 /* digest alone */
    struct uuid dataset_id;
    int64_t version;                /* 0: the latest at submit */
    struct str digest;              /* "sha256:…"; STR_NULL: the archive's only image for the machine */
    struct uuid environment_id;     /* of "env_…"; else nil */
    struct str name;                /* STR_NULL: none */
};
/* false: it has another form. */
bool run_environment(struct str text, struct run_environment *ret);
/* "sha256:" and 64 lower-case hex digits. */
bool run_is_digest(struct str s);
/* For .check: such a digest, or nothing. */
bool run_check_digest(struct str s, const char **why);
/* What a shared image's digest is behind. */
#define RUN_SHARED "shared/"
/* What a job's input that is its image is called. */
#define RUN_IMAGE_INPUT "image:"

/* The one variable of the platform's own that a spec may have: the scheduler adds it to the tasks of an array. */
#define RUN_ARRAY_INDEX "FALAJ_ARRAY_INDEX"

/* Whose start-up the program has, and so which variables it finds; torchrun is what every job had before there was a choice. */
enum run_launcher { RUN_TORCHRUN, RUN_MPI, RUN_TENSORFLOW, RUN_DEEPSPEED, RUN_PLAIN };
extern const char *const run_launcher_names[];
/* What machines on which mpirun starts ranks of others must have, as an engine (node.engines, job.engine): the helper of that
 * name in each box (workers/rank/rank.c). Those of the release before would run the whole command on every rank. */
#define RUN_RANKS_ENGINE "falaj-rank"

struct run_job {
    struct slice command;           /* struct str: a program and its words */
    struct str environment;         /* run_environment */
    struct slice env;               /* struct str "NAME=VALUE" */
    int launcher;                   /* enum run_launcher */
    struct str workdir;             /* absolute, inside */
    struct str script;              /* the text of /falaj/code/script; empty: there is none */
    struct slice inputs;            /* struct str "NAME=WHAT" (run_input) */
    struct slice secrets;           /* struct str "AS:TARGET=NAME" (run_secret) */
    struct slice outputs;           /* struct str "NAME" or "NAME=PATH" below /falaj/out (run_output) */
    int64_t grace_seconds;          /* from SIGTERM to SIGKILL; 0: what the machine gives */
    bool takes_stdin;               /* it has a standard input, to which who attaches types; else it reads nothing there */
};

/* An input: data set, model or the output of another job. The version is in the spec from submission on. */
enum run_source { RUN_DATASET, RUN_MODEL, RUN_JOB };
struct run_input {
    struct str name;                /* the file /falaj/in/NAME */
    enum run_source from;
    struct uuid id;
    int64_t version;                /* of data sets and models; 0: the latest at submit */
    struct str output;              /* RUN_JOB: name of its output */
};
/* A secret, as the program finds it: the variable TARGET, or the file /falaj/secrets/TARGET. */
enum run_secret_as { RUN_SECRET_ENV, RUN_SECRET_FILE };
struct run_secret {
    enum run_secret_as as;
    struct str target, name;
    int64_t version;                /* 0: the newest at submit */
    struct str place;               /* "env:TARGET": what the text has before '=' */
};
/* "env:TOKEN=hub-token", "file:key.pem=deploy-key@2". false: it has another form. */
bool run_secret(struct str text, struct run_secret *ret);
/* What a job's input that is a secret is called: this, and its place. */
#define RUN_SECRET_INPUT "secret:"
/* "digits=dst_…@3", "net=mdl_…", "model=job_…/weights". false: it has another form. */
bool run_input(struct str text, struct run_input *ret);
/* "model" or "model=deep/model.onnx". false: it has another form. */
bool run_output(struct str text, struct str *ret_name, struct str *ret_path);
/* A relative path without "", "." and ".." in it, of at most RUN_PATH_MAX bytes. */
bool run_path_is_good(struct str path);
/* What the members must be to each other: no name twice, no variable twice. INVALID with the member. */
enum errc run_job_settle(const struct run_job *r, struct err *e) MUST_CHECK;
