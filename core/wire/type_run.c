/* SPDX-License-Identifier: Apache-2.0 */
/* type_run.c - the spec of a job that runs a program, and the small languages of its lists. */
#include "core/wire/type_run.h"
#include "core/base/err.h"

const char *const run_launcher_names[] = { "torchrun", "mpi", "tensorflow", "deepspeed", "plain", NULL };
static const struct { const char *prefix; bool has_version; } sources[] = {
    [RUN_DATASET] = { "dst", true }, [RUN_MODEL] = { "mdl", true }, [RUN_JOB] = { "job", false },
};
enum { SOURCES = sizeof sources / sizeof *sources, VERSION_MAX = 1000000, TARGET_MAX = 63 };

static bool is_name(struct str s)
{
    const char *why;
    return check_slug(s, &why);
}

bool run_input(struct str text, struct run_input *ret)
{
    struct str what, id, more;
    *ret = (struct run_input){ 0 };
    if (!str_cut(text, '=', &ret->name, &what) || !is_name(ret->name))
        return false;
    bool has_output = str_cut(what, '/', &id, &ret->output), has_version = !has_output && str_cut(what, '@', &id, &more);
    for (int i = 0; i < SOURCES; i++)
        if (id_parse(sources[i].prefix, id, &ret->id)) {
            ret->from = (enum run_source)i;
            if (has_version && !str_to_i64(more, 1, VERSION_MAX, &ret->version))
                return false;
            return sources[i].has_version ? !has_output : has_output && !has_version && is_name(ret->output);
        }
    return false;
}

bool run_path_is_good(struct str path)
{
    struct str rest = path, one;
    bool more = path.len > 0 && path.len <= RUN_PATH_MAX;
    bool ok = more;
    while (ok && more) {
        more = str_cut(rest, '/', &one, &rest);
        ok = one.len && !str_eq_c(one, ".") && !str_eq_c(one, "..");
        for (size_t i = 0; ok && i < one.len; i++)
            ok = (unsigned char)one.ptr[i] >= 0x20 && one.ptr[i] != 0x7f;
    }
    return ok;
}

bool run_output(struct str text, struct str *ret_name, struct str *ret_path)
{
    if (!str_cut(text, '=', ret_name, ret_path))
        *ret_path = text;
    return is_name(*ret_name) && run_path_is_good(*ret_path);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_variable(struct str name)
{
    bool ok = name.len && !str_starts(name, "FALAJ_");
    for (size_t i = 0; ok && i < name.len; i++)
        ok = is_letter(name.ptr[i]) || (i && name.ptr[i] >= '0' && name.ptr[i] <= '9');
    return ok;
}

static bool is_file_name(struct str name)
{
    bool ok = name.len && name.ptr[0] != '.';
    for (size_t i = 0; ok && i < name.len; i++) {
        char c = name.ptr[i];
        ok = is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
    }
    return ok;
}

bool run_secret(struct str text, struct run_secret *ret)
{
    struct str as, what, version;
    *ret = (struct run_secret){ 0 };
    if (!str_cut(text, '=', &ret->place, &what) || !str_cut(ret->place, ':', &as, &ret->target) || ret->target.len > TARGET_MAX)
        return false;
    bool has_version = str_cut(what, '@', &ret->name, &version);
    if (!is_name(ret->name) || (has_version && !str_to_i64(version, 1, VERSION_MAX, &ret->version)))
        return false;
    ret->as = str_eq_c(as, "file") ? RUN_SECRET_FILE : RUN_SECRET_ENV;
    return ret->as == RUN_SECRET_FILE ? is_file_name(ret->target) : str_eq_c(as, "env") && is_variable(ret->target);
}

bool run_is_digest(struct str s)
{
    enum { PREFIX = 7, HEX = 64 };
    bool ok = s.len == PREFIX + HEX && str_starts(s, "sha256:");
    for (size_t i = PREFIX; ok && i < s.len; i++)
        ok = (s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f');
    return ok;
}

bool run_check_digest(struct str s, const char **why)
{
    *why = "be empty, or sha256: and 64 lower-case hex digits";
    return !s.len || run_is_digest(s);
}

/* "env_…", "NAME", "NAME@sha256:…", "sha256:…". */
static bool is_named(struct str text, struct run_environment *ret)
{
    struct str digest;
    if (id_parse("env", text, &ret->environment_id))
        return true;
    ret->digest = run_is_digest(text) ? text : STR_NULL;
    if (ret->digest.ptr)
        return true;
    const bool has_digest = str_cut(text, '@', &ret->name, &digest);
    ret->digest = has_digest ? digest : STR_NULL;
    return is_name(ret->name) && (!has_digest || run_is_digest(digest));
}

bool run_environment(struct str text, struct run_environment *ret)
{
    struct str what, id, version;
    *ret = (struct run_environment){ .is_host = str_eq_c(text, "host") };
    if (ret->is_host)
        return true;
    if (str_starts(text, RUN_SHARED)) {
        ret->digest = str_n(text.ptr + sizeof RUN_SHARED - 1, text.len - (sizeof RUN_SHARED - 1));
        ret->is_shared = run_is_digest(ret->digest);
        return ret->is_shared;
    }
    ret->is_named = is_named(text, ret);
    if (ret->is_named)
        return true;
    *ret = (struct run_environment){ 0 };
    const bool has_digest = str_cut(text, '/', &what, &ret->digest), has_version = str_cut(what, '@', &id, &version);
    if (!has_digest)
        ret->digest = STR_NULL;
    return id_parse("dst", id, &ret->dataset_id) && (!has_digest || run_is_digest(ret->digest)) &&
           (!has_version || str_to_i64(version, 1, VERSION_MAX, &ret->version));
}

static bool check_environment(struct str s, const char **why)
{
    struct run_environment got;
    *why = "be host, an environment (NAME, NAME@sha256:DIGEST, sha256:DIGEST, env_ID), shared/sha256:DIGEST, or "
           "dst_ID[@VERSION][/sha256:DIGEST]";
    return run_environment(s, &got);
}

static bool check_input(struct str s, const char **why)
{
    struct run_input in;
    *why = "be NAME=dst_ID[@VERSION], NAME=mdl_ID[@VERSION] or NAME=job_ID/OUTPUT; names have lower-case letters, digits and '-'";
    return run_input(s, &in);
}

static bool check_output(struct str s, const char **why)
{
    struct str name, path;
    *why = "be NAME or NAME=PATH: a name of lower-case letters, digits and '-', a path below /falaj/out without '.' and '..'";
    return run_output(s, &name, &path);
}

static bool check_env(struct str s, const char **why)
{
    struct str name, value;
    *why = "be NAME=VALUE; a name has letters, digits and '_', no digit first, and does not begin with FALAJ_";
    return str_cut(s, '=', &name, &value) && (is_variable(name) || str_eq_c(name, RUN_ARRAY_INDEX))
        && !memchr(value.ptr, '\0', value.len);
}

static bool check_secret(struct str s, const char **why)
{
    struct run_secret got;
    *why = "be env:VARIABLE=NAME[@VERSION] or file:FILE=NAME[@VERSION], with the name of a secret; a file's has letters, digits, "
        "'.', '_' "
           "and '-', no '.' first, and at most 63 characters";
    return run_secret(s, &got);
}

static bool check_word(struct str s, const char **why)
{
    *why = "have no NUL in it";
    return !memchr(s.ptr, '\0', s.len);
}

static bool check_workdir(struct str s, const char **why)
{
    *why = "be an absolute path without '.' and '..'";
    return s.len > 1 && s.ptr[0] == '/' && run_path_is_good(str_n(s.ptr + 1, s.len - 1));
}

SCHEMA_EXTERN(run_job, "A job that runs a program of yours in a closed box: docs/howto/run-a-program.md",
    FIELD_STRS(run_job, command, F_REQ, .min = 1, .max = RUN_WORDS_MAX, .check = check_word,
        .example = "python3,/falaj/code/script",
               .doc = "The program and its words, as a shell would split them; no shell reads them"),
    FIELD(run_job, environment, 0, .max = 160, .check = check_environment, .dflt = "host",
          .pattern_doc = "^(dst_[0-9a-f]{32}(@[0-9]+)?(/sha256:[0-9a-f]{64})?|env_[0-9a-f]{32}|(shared/)?sha256:[0-9a-f]{64}|"
                         "[a-z0-9][a-z0-9-]*(@sha256:[0-9a-f]{64})?)$",
          .doc = "What it runs in: host is the machine's own /usr; else an environment by NAME (its newest), NAME@sha256:…, "
                 "sha256:… or env_ID; shared/sha256:… is one that the platform's staff publish to all; or an image that is no "
                 "environment, dst_ID[@VERSION][/sha256:…] (a data set of the format oci); on machines that run programs "
                 "(worker.programs)"),
    FIELD(run_job, script, 0, .max = RUN_SCRIPT_MAX, .check = check_word, .doc = "A text that lies at /falaj/code/script"),
    FIELD_STRS(run_job, inputs, F_NOEMPTY, .max = RUN_INPUTS_MAX, .check = check_input, .dflt = "",
               .example = "digits=dst_0123456789abcdef0123456789abcdef@3",
               .doc = "What it may read, as /falaj/in/NAME: NAME=dst_…[@VERSION], NAME=mdl_…[@VERSION], NAME=job_…/OUTPUT"),
    FIELD_STRS(run_job, outputs, F_NOEMPTY, .max = RUN_OUTPUTS_MAX, .check = check_output, .dflt = "",
        .example = "model=model.onnx",
               .doc = "Files below /falaj/out that are kept when it ends well, as NAME or NAME=PATH"),
    FIELD_STRS(run_job, secrets, F_NOEMPTY, .max = RUN_SECRETS_MAX, .check = check_secret, .dflt = "",
               .example = "env:TOKEN=hub-token",
               .doc = "Secrets it gets, as env:VARIABLE=NAME[@VERSION], or as file:FILE=NAME[@VERSION] in /falaj/secrets"),
    FIELD_STRS(run_job, env, F_MORE | F_NOEMPTY, .max = RUN_ENV_MAX, .check = check_env, .dflt = "", .example = "EPOCHS=20",
               .doc = "Variables, NAME=VALUE; everybody who may read the job reads them"),
    FIELD_ENUM(run_job, launcher, F_MORE | F_LATE, run_launcher_names, .dflt = "torchrun",
               .doc = "Whose variables it finds: RANK … of torchrun, a hostfile of mpi, TF_CONFIG of tensorflow, both of "
                   "deepspeed, "
                      "or none (plain)"),
    FIELD(run_job, workdir, F_MORE, .min = 1, .max = RUN_PATH_MAX, .check = check_workdir, .dflt = "/falaj/scratch",
          .doc = "The directory that it begins in"),
    FIELD(run_job, grace_seconds, F_MORE, .min = 0, .max = RUN_GRACE_MAX_S, .dflt = "0",
          .doc = "Seconds from SIGTERM to SIGKILL, if the machine gives as much; 0: what it gives"),
    FIELD(run_job, takes_stdin, F_MORE | F_LATE, .dflt = "false",
          .doc = "It has a standard input, to which 'falaj job attach' types; without it, it finds the end of a file there"));

/* The part of a list's item before '='. */
static struct str key_of(struct str item)
{
    struct str key, rest;
    (void)str_cut(item, '=', &key, &rest);
    return key;
}

static enum errc check_once(const struct slice *list, const char *member, struct err *e)
{
    const struct str *s = list->items;
    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; j < i; j++)
            if (str_eq(key_of(s[i]), key_of(s[j]))) {
                struct str key = key_of(s[i]);
                FAIL(e, INVALID, "names %.*s twice", STR_ARG(key));
                return err_field(e, "/%s/%zu", member, i);
            }
    return ERR_OK;
}

/* A variable that is a secret would hide one that everybody reads, or be hidden by it. */
static enum errc check_apart(const struct run_job *r, struct err *e)
{
    const struct str *secrets = r->secrets.items, *env = r->env.items;
    struct run_secret s;
    for (size_t i = 0; i < r->secrets.n; i++)
        for (size_t j = 0; j < r->env.n; j++)
            if (run_secret(secrets[i], &s) && s.as == RUN_SECRET_ENV && str_eq(s.target, key_of(env[j]))) {
                FAIL(e, INVALID, "is the variable %.*s, which env sets, too", STR_ARG(s.target));
                return err_field(e, "/secrets/%zu", i);
            }
    return ERR_OK;
}

enum errc run_job_settle(const struct run_job *r, struct err *e)
{
    const struct str *words = r->command.items;
    if (!words[0].len)
        return FAIL_AT(e, INVALID, "/command/0", "must name a program");
    TRY(check_once(&r->inputs, "inputs", e));
    TRY(check_once(&r->outputs, "outputs", e));
    TRY(check_once(&r->secrets, "secrets", e));
    TRY(check_once(&r->env, "env", e));
    return check_apart(r, e);
}
