/* SPDX-License-Identifier: Apache-2.0 */
/* fake_ort.c - ONNX Runtime's table with a few words of what it can do: a shared object that ort.h opens as the real one. Entries
 * stand at the positions of onnxruntime_c_api.h; any other one ends the process. What a model does is told by words in its bytes:
 *
 *   Twice    y = 2x            Beside   y = x + the first number of all rows      Counted  INT64 y = x, or 2^40 for x > 100
 *   Growing  y has a column more for x > 100      Listed  y is no tensor          Angry    a call with x > 100 is refused
 *   Endless  a call with x > 100 ends when it is told to stop (or after a minute)
 *   Stuck    each call does so
 *   Broken   no session is made of it             Halved  as Twice, with one row of the output for two of the input
 *
 * One input and one output; numbers go in as FLOAT, DOUBLE, INT64, INT32, BOOL, UINT8 or INT8 and come out as FLOAT. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fake_ort.h"

static struct fake_ort_told told;

struct status { char text[200]; };
struct value { int type, rank; int64_t dim[8]; void *data; bool is_own, is_list; };
struct session { char words[64]; };

struct fake_ort_told *fake_ort_told(void)
{
    return &told;
}

static void *fail(const char *text)
{
    struct status *s = calloc(1, sizeof *s);
    snprintf(s->text, sizeof s->text, "%s", text);
    told.alive++;
    return s;
}

static int code(const void *s) { return s != NULL; }
static const char *text(const void *s) { return ((const struct status *)s)->text; }

static void *make(void **ret, size_t bytes)
{
    *ret = calloc(1, bytes);
    told.alive++;
    return NULL;
}

static void gone(void *p)
{
    told.alive -= p != NULL;
    free(p);
}

static void *env_new(int severity, const char *name, void **ret)
{
    const char *off = getenv("ORT_DISABLE_TELEMETRY");
    told.severity = severity;
    told.telemetry_off = off && !strcmp(off, "1");
    snprintf(told.name, sizeof told.name, "%s", name);
    return make(ret, 8);
}

static void *telemetry_off(const void *env) { told.telemetry_off += env != NULL; return NULL; }
static void *options_new(void **ret) { return make(ret, 8); }
static void *severity(void *o, int n) { told.quiet += o && n == 4; return NULL; }
static void *level(void *o, int n) { told.level = o ? n : -1; return NULL; }
static void *threads(void *o, int n) { told.threads = o ? n : -1; return NULL; }
static void *branches(void *o, int n) { told.branches = o ? n : -1; return NULL; }

static void *options_set(void *o, const char *key, const char *value)
{
    size_t n = strlen(told.pairs);
    snprintf(told.pairs + n, sizeof told.pairs - n, "%s=%s;", o ? key : "?", value);
    return NULL;
}

static void *memory_new(int allocator, int kind, void **ret)
{
    told.memories += (allocator == 0 || allocator == 1) && kind == 0;
    return make(ret, 8);
}

static void *arena_new(size_t most, int extend, int first, int dead, void **ret)
{
    told.arena_bytes = most;
    told.arena_extend = extend == 1 && first == -1 && dead == -1;
    return make(ret, 8);
}

static void *env_arena(void *env, const void *memory, const void *arena)
{
    told.arenas += env && memory && arena;
    return NULL;
}

static void *session_new(const void *env, const void *bytes, size_t n, const void *options, void **ret)
{
    static const char *const words[] = { "Twice", "Beside", "Counted", "Growing", "Listed", "Angry", "Halved", "Endless",
                                         "Stuck" };
    if (!env || !options || memmem(bytes, n, "Broken", 6))
        return fail("the graph is broken\nat a place");
    (void)make(ret, sizeof(struct session));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(bytes, n, words[i], strlen(words[i])))
            snprintf(((struct session *)*ret)->words, sizeof ((struct session *)*ret)->words, "%s", words[i]);
    return NULL;
}

static void *tensor_new(const void *memory, void *data, size_t bytes, const int64_t *dim, size_t rank, int type, void **ret)
{
    if (!memory || !data || !bytes || rank > 8)
        return fail("no tensor");
    (void)make(ret, sizeof(struct value));
    struct value *v = *ret;
    *v = (struct value){ .type = type, .rank = (int)rank, .data = data };
    memcpy(v->dim, dim, rank * sizeof *dim);
    return NULL;
}

static void value_free(void *p)
{
    struct value *v = p;
    if (v && v->is_own)
        free(v->data);
    gone(p);
}

static double number(const struct value *v, size_t i)
{
    switch (v->type) {
    case 1: return (double)((float *)v->data)[i];
    case 2: return ((uint8_t *)v->data)[i];
    case 3: return ((int8_t *)v->data)[i];
    case 6: return ((int32_t *)v->data)[i];
    case 7: return (double)((int64_t *)v->data)[i];
    case 9: return ((uint8_t *)v->data)[i];
    default: return ((double *)v->data)[i];
    }
}

static void compute(const char *word, const struct value *x, struct value *y, size_t n, size_t row)
{
    double first = 0;
    for (size_t i = 0; i < n; i += row)
        first += number(x, i);
    for (size_t i = 0; i < n; i++) {
        double v = number(x, i);
        if (y->type == 7)
            ((int64_t *)y->data)[i] = v > 100 ? (int64_t)1 << 40 : (int64_t)v;
        else
            ((float *)y->data)[i] = (float)(!strcmp(word, "Beside") ? v + first : 2 * v);
    }
}

static void *run_options_new(void **ret) { return make(ret, sizeof(_Atomic int)); }
static void *run_stop(void *o) { told.stops++; *(_Atomic int *)o = 1; return NULL; }
static void *run_go_on(void *o) { *(_Atomic int *)o = 0; return NULL; }

static bool is_told_to_stop(const void *options)
{
    for (int ms = 0; ms < 60000; ms++)
        if (*(const _Atomic int *)options)
            return true;
        else
            usleep(1000);
    return false;
}

static void *run(void *session, const void *options, const char *const *in_names, const void *const *in, size_t ins,
                 const char *const *out_names, size_t outs, void **out)
{
    const char *word = ((struct session *)session)->words;
    const struct value *x = in[0];
    size_t n = 1;
    told.runs++;
    if (!options || ins != 1 || outs != 1 || strcmp(in_names[0], "x") || strcmp(out_names[0], "y"))
        return fail("no such names");
    for (int d = 0; d < x->rank; d++)
        n *= (size_t)x->dim[d];
    bool is_large = false;
    for (size_t i = 0; i < n; i++)
        is_large = is_large || number(x, i) > 100;
    if (is_large && !strcmp(word, "Angry"))
        return fail("a number is beyond 100");
    if (((is_large && !strcmp(word, "Endless")) || !strcmp(word, "Stuck")) && is_told_to_stop(options))
        return fail("Exiting due to terminate flag being set to true.");
    (void)make(out, sizeof(struct value));
    struct value *y = out[0];
    *y = *x;
    y->type = strcmp(word, "Counted") ? 1 : 7;
    y->is_own = true;
    y->is_list = !strcmp(word, "Listed");
    y->data = calloc(n + 8, 8);
    y->dim[y->rank - 1] += is_large && !strcmp(word, "Growing");
    if (!strcmp(word, "Halved"))
        y->dim[0] = (y->dim[0] + 1) / 2;
    compute(word, x, y, n, x->rank ? n / (size_t)(x->dim[0] ? x->dim[0] : 1) : 1);
    return NULL;
}

static void *kind(const void *v, int *ret) { *ret = ((const struct value *)v)->is_list ? 2 : 1; return NULL; }
static void *data(void *v, void **ret) { *ret = ((struct value *)v)->data; return NULL; }

static void *about(const void *v, void **ret)
{
    (void)make(ret, sizeof(struct value));
    *(struct value *)*ret = *(const struct value *)v;
    return NULL;
}

static void *about_type(const void *v, int *ret) { *ret = ((const struct value *)v)->type; return NULL; }
static void *about_rank(const void *v, size_t *ret) { *ret = (size_t)((const struct value *)v)->rank; return NULL; }

static void *about_dims(const void *v, int64_t *ret, size_t rank)
{
    memcpy(ret, ((const struct value *)v)->dim, rank * sizeof *ret);
    return NULL;
}

static void none(void)
{
    fprintf(stderr, "an entry was called that nobody should use\n");
    abort();
}

enum { ENTRIES = 200 };
typedef void (*entry)(void);
static const void *table[ENTRIES];

static const void *const *api(uint32_t version)
{
#define AT(i, f) [i] = (entry)f
    static const entry known[ENTRIES] = {
        AT(1, code), AT(2, text), AT(3, env_new), AT(6, telemetry_off), AT(8, session_new), AT(9, run), AT(10, options_new),
        AT(22, severity), AT(23, level), AT(24, threads), AT(25, branches), AT(39, run_options_new), AT(46, run_stop),
        AT(47, run_go_on), AT(49, tensor_new), AT(51, data), AT(60, about_type), AT(61, about_rank), AT(62, about_dims),
        AT(65, about), AT(67, kind), AT(69, memory_new), AT(92, gone), AT(93, gone), AT(94, gone), AT(95, gone),
        AT(96, value_free), AT(97, gone), AT(99, gone), AT(100, gone), AT(130, options_set), AT(144, env_arena),
        AT(156, arena_new), AT(157, gone),
    };
    told.version = version;
    for (int i = 0; i < ENTRIES; i++) {
        entry f = known[i] ? known[i] : none;
        memcpy(&table[i], &f, sizeof f);
    }
    return version <= 16 && !told.is_old ? table : NULL;
}

static const char *version(void) { return "1.0-fake"; }

const void *OrtGetApiBase(void);
const void *OrtGetApiBase(void)
{
    static const struct { const void *const *(*api)(uint32_t); const char *(*version)(void); } base = { api, version };
    return &base;
}
