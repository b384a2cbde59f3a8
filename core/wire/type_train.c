/* SPDX-License-Identifier: Apache-2.0 */
/* type_train.c - the spec of a training job. Its limits keep a job of one tenant within what a machine can hold. */
#include "core/wire/type_train.h"
#include "core/data/model_words.h"

const char *const job_objective_names[] = { "classification", "regression", "multi-label", NULL };
const char *const job_family_names[] = { "mlp", "cnn", "gpt", "gbdt", NULL },
                  *const job_optimizer_names[] = { "adamw", "sgd", NULL },
                  *const job_schedule_names[] = { "const", "cosine", "linear", "wsd", NULL },
                  *const job_precision_names[] = { "fp32", "bf16", "auto", NULL },
                  *const job_recompute_names[] = { "auto", "off", "on", NULL };

SCHEMA_EXTERN(train_job, "A training job",
    FIELD_ID(train_job, dataset_id, "dst", F_REQ, .doc = "The data set to learn from"),
    FIELD(train_job, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ENUM(train_job, family, F_MORE, job_family_names, .dflt = "mlp", .doc = "Model family"),
    FIELD_ENUM(train_job, objective, F_MORE, job_objective_names, .dflt = "classification",
               .doc = "What is learnt: a class; mlp and gbdt also a number (regression), or flags of 0 and 1 (multi-label)"),
    FIELD_I64S(train_job, hidden, 0, .min = 0, .max = TRAIN_HIDDEN_MAX, .item_min = 1, .item_max = 8192, .dflt = "64,32",
               .doc = "mlp: widths of the hidden layers; an empty list means the default"),
    FIELD_I64S(train_job, image, F_MORE, .min = 0, .max = 3, .item_min = 1, .item_max = 1024, .dflt = "",
               .doc = "cnn: height, width and channels of an image; its numbers are the columns in this order"),
    FIELD_I64S(train_job, channels, F_MORE, .min = 0, .max = TRAIN_STAGES_MAX, .item_min = 1, .item_max = 4096,
               .dflt = "16,32,64",
               .doc = "cnn: channels of each stage; an empty list means the default"),
    FIELD_I64S(train_job, blocks, F_MORE, .min = 0, .max = TRAIN_STAGES_MAX, .item_min = 1, .item_max = 64, .dflt = "1",
               .doc = "cnn: blocks of each stage, the last number for further stages; an empty list means the default"),
    FIELD(train_job, residual, F_MORE, .dflt = "false", .doc = "cnn: the input of a block is added to its result"),
    FIELD(train_job, layers, F_MORE, .min = 1, .max = 128, .dflt = "4", .doc = "gpt: layers"),
    FIELD(train_job, width, F_MORE, .min = 8, .max = 16384, .dflt = "128", .doc = "gpt: numbers of a token's embedding"),
    FIELD(train_job, heads, F_MORE, .min = 1, .max = 128, .dflt = "4", .doc = "gpt: heads of attention"),
    FIELD(train_job, kv_heads, F_MORE, .min = 0, .max = 128, .dflt = "0",
          .doc = "gpt: heads of keys and values; 0: as many as heads"),
    FIELD(train_job, context, F_MORE, .min = 2, .max = 16384, .dflt = "128", .doc = "gpt: tokens of a sequence"),
    FIELD(train_job, rms_norm, F_MORE, .dflt = "false", .doc = "gpt: RMS norm without biases instead of layer norm"),
    FIELD(train_job, rotary, F_MORE, .dflt = "false", .doc = "gpt: rotary positions instead of learnt ones"),
    FIELD(train_job, gated, F_MORE, .dflt = "false", .doc = "gpt: perceptrons with a SiLU gate instead of GELU"),
    FIELD(train_job, trees, F_MORE, .min = 1, .max = 10000, .dflt = "100",
          .doc = "gbdt: rounds, each of a tree, or one for each class"),
    FIELD(train_job, leaves, F_MORE, .min = 2, .max = 1024, .dflt = "31", .doc = "gbdt: most leaves of a tree"),
    FIELD(train_job, depth, F_MORE, .min = 0, .max = 64, .dflt = "0", .doc = "gbdt: most splits from the top to a leaf; 0: any"),
    FIELD(train_job, leaf_rows, F_MORE, .min = 1, .max = 1000000, .dflt = "20", .doc = "gbdt: least rows in a leaf"),
    FIELD(train_job, bins, F_MORE, .min = 2, .max = 255, .dflt = "255", .doc = "gbdt: most parts into which a column is cut"),
    FIELD(train_job, l2, F_MORE, .real_min = 0, .real_max = 1000000, .dflt = "0", .doc = "gbdt: what draws a leaf's value to 0"),
    FIELD(train_job, row_share, F_MORE, .real_min = 0.01, .real_max = 1, .dflt = "1",
          .doc = "gbdt: share of the rows that a round sees"),
    FIELD(train_job, column_share, F_MORE, .real_min = 0.01, .real_max = 1, .dflt = "1",
          .doc = "gbdt: share of the columns that a tree sees"),
    FIELD(train_job, epochs, 0, .min = 1, .max = 10000, .dflt = "30", .doc = "Passes over the training rows"),
    FIELD(train_job, batch_size, 0, .min = 1, .max = 65536, .dflt = "32", .doc = "Rows, or sequences, per batch"),
    FIELD(train_job, accumulate, F_MORE, .min = 1, .max = 4096, .dflt = "1", .doc = "Batches whose gradients make one step"),
    FIELD(train_job, ranks, F_MORE | F_LATE, .min = 0, .max = TRAIN_RANKS_MAX, .dflt = "1",
          .doc = "mlp, cnn, gpt: threads of the lease that share the batches of a step (1, 2, 4 or 8, which divides accumulate), "
                 "each with a model and its part of the optimiser's state; 0: by the processors. The model is the same for any "
                 "number"),
    FIELD(train_job, tensor_ranks, F_MORE | F_LATE, .min = 1, .max = TRAIN_RANKS_MAX, .dflt = "1",
          .doc = "gpt: threads of the lease, or machines (nodes), that share every layer: each has its part of the heads and "
                 "of the perceptron's width (1, 2, 4 or 8, which divides heads and kv_heads). Less memory on each; sums round "
                 "otherwise"),
    FIELD(train_job, max_steps, F_MORE, .min = 0, .max = 1000000000, .dflt = "0",
          .doc = "Budget in steps; 0: what the epochs make"),
    FIELD(train_job, max_items, F_MORE, .min = 0, .max = 1000000000000000, .dflt = "0",
          .doc = "Budget in rows, or tokens; 0: what the epochs make"),
    FIELD(train_job, max_seconds, F_MORE, .min = 0, .max = 31536000, .dflt = "0", .doc = "Budget in seconds; 0: none"),
    FIELD(train_job, max_joules, F_MORE | F_LATE, .min = 0, .max = 1000000000000, .dflt = "0",
          .doc = "Budget in joules, as the machine measures what the job takes; refused by one that does not. 0: none"),
    FIELD(train_job, eval_every, F_MORE, .min = 0, .max = 1000000000, .dflt = "0",
          .doc = "Steps between evaluations; 0: at the end of each epoch, of gbdt after each round"),
    FIELD_ENUM(train_job, optimizer, F_MORE, job_optimizer_names, .dflt = "adamw", .doc = "Optimiser"),
    FIELD(train_job, learning_rate, 0, .real_min = 0, .real_max = 10, .dflt = "0",
          .doc = "Peak learning rate; of gbdt what each tree adds; 0: the usual one, 0.003, of gbdt 0.1"),
    FIELD(train_job, weight_decay, F_MORE, .real_min = 0, .real_max = 1, .dflt = "0.0001", .doc = "Decoupled weight decay"),
    FIELD(train_job, clip_norm, F_MORE, .real_min = 0, .real_max = 1000000, .dflt = "0",
          .doc = "Largest norm of the gradient; 0: any"),
    FIELD(train_job, dropout, F_MORE, .real_min = 0, .real_max = 0.9, .dflt = "0",
          .doc = "Share of activations left out while training"),
    FIELD_ENUM(train_job, schedule, F_MORE, job_schedule_names, .dflt = "cosine", .doc = "Course of the learning rate"),
    FIELD(train_job, warmup_steps, F_MORE, .min = 0, .max = 1000000, .dflt = "0", .doc = "Steps of linear warm-up"),
    FIELD_ENUM(train_job, precision, F_MORE, job_precision_names, .dflt = "fp32",
               .doc = "mlp, cnn, gpt: numbers that products multiply; weights, sums and updates are fp32. auto: bf16 where the "
                      "machine has fast instructions for it"),
    FIELD_ENUM(train_job, recompute, F_MORE | F_LATE, job_recompute_names, .dflt = "auto",
               .doc = "cnn, gpt: results of a block that only its backward pass reads are dropped and made again there: less "
                      "memory, more time, the same model. auto: where the memory of the lease asks for it"),
    FIELD(train_job, seed, F_MORE, .min = 0, .max = INT64_MAX, .dflt = "1",
          .doc = "Seed of split, order and weights: same seed, same model"),
    FIELD(train_job, holdout, F_MORE, .real_min = 0.01, .real_max = 0.9, .dflt = "0.2", .doc = "Share of rows held out"),
    FIELD(train_job, early_stop_patience, F_MORE, .min = 0, .max = 10000, .dflt = "0",
          .doc = "Stop after so many evaluations without improvement, and keep the best; 0: off"),
    FIELD(train_job, checkpoint_every, F_MORE, .min = 0, .max = 10000, .dflt = "0",
          .doc = "Epochs, of gbdt rounds, between checkpoints; 0: only when told to stop"),
    FIELD_ID(train_job, start_from, "mdl", F_MORE,
             .doc = "mlp, cnn, gpt: a model of the same family and shape whose weights it begins with; absent: random ones"),
    FIELD(train_job, start_version, F_MORE, .min = 0, .max = 1000000, .dflt = "0",
          .doc = "Version of start_from; 0: the latest at submit"),
    FIELD(train_job, profile_steps, F_MORE, .min = 0, .max = 1000, .dflt = "0",
          .doc = "mlp, cnn, gpt: steps of which the result says where their time went, by operation; 0: none"),
    FIELD(train_job, tune_steps, F_MORE | F_LATE, .min = 0, .max = 1000, .dflt = "0",
          .doc = "mlp, cnn, gpt: steps of each way of running (threads, ranks, prefetch, graph, precision where it is auto) that "
                 "is tried before the first step; the run goes on with the fastest. 0: none is tried"),
    FIELD(train_job, tune_batches, F_MORE | F_LATE, .dflt = "false",
          .doc = "With tune_steps: a step may be cut into other batches, too; its rows stay, its sums round otherwise"),
    FIELD_ID(train_job, teacher, "mdl", F_MORE,
             .doc = "mlp, cnn: a model of any family with the same columns and classes, whose probabilities it learns from "
                    "beside the labels; absent: none"),
    FIELD(train_job, teacher_version, F_MORE, .min = 0, .max = 1000000, .dflt = "0",
          .doc = "Version of teacher; 0: the latest at submit"),
    FIELD(train_job, teacher_share, F_MORE, .real_min = 0.01, .real_max = 1, .dflt = "0.5",
          .doc = "Share of the loss that is the teacher's; the rest is the labels'"),
    FIELD(train_job, temperature, F_MORE, .real_min = 1, .real_max = 100, .dflt = "2",
          .doc = "What logits are divided by before both answers are compared: the higher, the more small probabilities count"),
    SPEC_DATASET_FIELDS(train_job), SPEC_DATASET_WORD_FIELDS(train_job));

static enum errc settle_list(struct train_job *t, const char *name, struct slice *list, struct arena *a, struct err *e)
{
    const struct field *f = schema_find(&train_job_schema, str_c(name));
    return list->n ? ERR_OK : field_from_text(f, str_c(f->dflt), t, a, e);
}

static enum errc settle_gpt(const struct train_job *t, struct err *e)
{
    if (t->width % t->heads)
        return FAIL_AT(e, INVALID, "/heads", "must divide width, which is %ld", (long)t->width);
    if (t->kv_heads && t->heads % t->kv_heads)
        return FAIL_AT(e, INVALID, "/kv_heads", "must divide heads, which is %ld", (long)t->heads);
    if (t->rotary && t->width / t->heads % 2)
        return FAIL_AT(e, INVALID, "/rotary", "needs an even number of columns in a head; width / heads is %ld",
                       (long)(t->width / t->heads));
    if (t->gated && !t->rms_norm)
        return FAIL_AT(e, INVALID, "/gated", "needs rms_norm as well: a gated perceptron has no biases");
    return ERR_OK;
}

static enum errc settle_objective(const struct train_job *t, struct err *e)
{
    static const int objective_of[] = { [TARGET_CLASS] = TRAIN_CLASSIFICATION, [TARGET_NUMBER] = TRAIN_REGRESSION,
                                        [TARGET_FLAGS] = TRAIN_MULTI_LABEL, [TARGET_NONE] = -1 };
    if (t->objective != TRAIN_CLASSIFICATION && t->family != TRAIN_MLP && t->family != TRAIN_GBDT)
        return FAIL_AT(e, INVALID, "/objective", "%s is learnt by the families mlp and gbdt; %s learns classes",
                       job_objective_names[t->objective],
                       job_family_names[t->family]);
    if (t->family == TRAIN_CNN && (t->category_columns.n || t->missing_values))
        return FAIL_AT(e, INVALID, "/family", "cnn learns from images, all numbers; this data set has %s. mlp and gbdt learn "
                       "from it", t->category_columns.n ? "columns of categories" : "missing values");
    if (!data_formats[t->format].is_table || t->objective == objective_of[t->target])
        return ERR_OK;
    if (t->target == TARGET_NONE)
        return FAIL_AT(e, INVALID, "/dataset_id", "%s needs labels, and this data set has none: its target is none",
                       job_objective_names[t->objective]);
    return FAIL_AT(e, INVALID, "/objective",
                   "%s needs another label than this data set has: its target is %s, which %s learns",
                   job_objective_names[t->objective], data_target_names[t->target], job_objective_names[objective_of[t->target]]);
}

static enum errc settle_start(const struct train_job *t, struct err *e)
{
    bool has_start = !uuid_is_nil(t->start_from);
    if (has_start && t->family == TRAIN_GBDT)
        return FAIL_AT(e, INVALID, "/start_from", "is for mlp, cnn and gpt: trees have no weights to begin with");
    return has_start || !t->start_version ? ERR_OK
                                          : FAIL_AT(e, INVALID, "/start_version", "needs start_from, the model it is of");
}

static enum errc settle_teacher(const struct train_job *t, struct err *e)
{
    if (uuid_is_nil(t->teacher))
        return t->teacher_version ? FAIL_AT(e, INVALID, "/teacher_version", "needs teacher, the model it is of") : ERR_OK;
    if (t->family != TRAIN_MLP && t->family != TRAIN_CNN)
        return FAIL_AT(e, INVALID, "/teacher", "teaches mlp and cnn; %s does not learn from a teacher",
                       job_family_names[t->family]);
    if (t->objective != TRAIN_CLASSIFICATION)
        return FAIL_AT(e, INVALID, "/teacher", "teaches classes; this job learns %s", job_objective_names[t->objective]);
    if (t->category_columns.n)
        return FAIL_AT(e, INVALID, "/teacher", "knows its own words: a data set with columns of categories has no teacher");
    return ERR_OK;
}

static enum errc settle_precision(const struct train_job *t, struct err *e)
{
    if (t->precision == TRAIN_BF16 && t->family == TRAIN_GBDT)
        return FAIL_AT(e, INVALID, "/precision",
                       "bf16 is for mlp, cnn and gpt: gbdt multiplies nothing, its sums are whole numbers; leave it out");
    return ERR_OK;
}

static enum errc settle_tuning(const struct train_job *t, struct err *e)
{
    if (t->tune_steps && t->family == TRAIN_GBDT)
        return FAIL_AT(e, INVALID, "/tune_steps", "is for mlp, cnn and gpt: gbdt has no steps that could be run in other ways");
    if (t->recompute == TRAIN_RECOMPUTE_ON && t->family != TRAIN_CNN && t->family != TRAIN_GPT)
        return FAIL_AT(e, INVALID, "/recompute", "is for cnn and gpt: %s has no blocks whose results could be made again",
                       job_family_names[t->family]);
    if (t->tune_batches && !t->tune_steps)
        return FAIL_AT(e, INVALID, "/tune_batches", "needs tune_steps, the length of a trial");
    return ERR_OK;
}

static enum errc settle_ranks(const struct train_job *t, struct err *e)
{
    if (t->ranks <= 1)
        return ERR_OK;
    if (t->family == TRAIN_GBDT)
        return FAIL_AT(e, INVALID, "/ranks", "is for mlp, cnn and gpt: gbdt grows its trees with all processors of its lease");
    if (t->ranks & (t->ranks - 1))
        return FAIL_AT(e, INVALID, "/ranks", "must be 1, 2, 4 or 8 (a power of two), or 0 for as many as processors; %ld was "
                       "given", (long)t->ranks);
    if (t->accumulate % t->ranks)
        return FAIL_AT(e, INVALID, "/ranks", "must divide accumulate, the batches of a step that ranks share: accumulate is %ld "
                       "and ranks %ld. batch_size / %ld with accumulate %ld makes a step of as many rows", (long)t->accumulate,
                       (long)t->ranks, (long)t->ranks, (long)(t->accumulate * t->ranks));
    return ERR_OK;
}

static enum errc settle_tensor_ranks(const struct train_job *t, struct err *e)
{
    int64_t n = t->tensor_ranks, kv = t->kv_heads ? t->kv_heads : t->heads;
    if (n <= 1)
        return ERR_OK;
    if (t->family != TRAIN_GPT)
        return FAIL_AT(e, INVALID, "/tensor_ranks", "is for gpt: %s has no heads that ranks could share; ranks share its batches",
                       job_family_names[t->family]);
    if (n & (n - 1))
        return FAIL_AT(e, INVALID, "/tensor_ranks", "must be 1, 2, 4 or 8 (a power of two); %ld was given", (long)n);
    if (t->heads % n || kv % n)
        return FAIL_AT(e, INVALID, "/tensor_ranks", "must divide the heads, %ld, and those of keys and values, %ld: "
                       "each rank has as many; %ld was given", (long)t->heads, (long)kv, (long)n);
    if (t->ranks != 1)
        return FAIL_AT(e, INVALID, "/tensor_ranks", "goes with ranks 1 alone: ranks share the batches of a step, "
                       "tensor_ranks its layers; ranks is %ld", (long)t->ranks);
    return ERR_OK;
}

int64_t train_job_ranks(const struct train_job *t, int cores)
{
    int64_t ranks = 1;
    if (t->ranks || t->family == TRAIN_GBDT)
        return t->ranks ? t->ranks : 1;
    while (2 * ranks <= TRAIN_RANKS_MAX && 2 * ranks <= cores && t->accumulate % (2 * ranks) == 0)
        ranks *= 2;
    return ranks;
}

enum errc train_job_settle(struct train_job *t, struct arena *a, struct err *e)
{
    static const double NET_RATE = 0.003, TREE_RATE = 0.1;
    t->learning_rate = t->learning_rate > 0 ? t->learning_rate : t->family == TRAIN_GBDT ? TREE_RATE : NET_RATE;
    TRY(settle_list(t, "hidden", &t->hidden, a, e));
    TRY(settle_list(t, "channels", &t->channels, a, e));
    TRY(settle_list(t, "blocks", &t->blocks, a, e));
    if (t->family == TRAIN_CNN && t->image.n != 3)
        return FAIL_AT(e, INVALID, "/image", "must be height, width and channels for the family cnn; %zu number(s) are given",
                       t->image.n);
    TRY(settle_objective(t, e));
    TRY(settle_start(t, e));
    TRY(settle_precision(t, e));
    TRY(settle_ranks(t, e));
    TRY(settle_tensor_ranks(t, e));
    TRY(settle_tuning(t, e));
    TRY(settle_teacher(t, e));
    return t->family == TRAIN_GPT ? settle_gpt(t, e) : ERR_OK;
}

/* Numbers that a model learns, and the tensors they are in. Fields are limited so that nothing here overflows. */
struct size {
    int64_t numbers, tensors;
};

static int64_t item(const struct slice *s, size_t i)
{
    return ((const int64_t *)s->items)[i < s->n ? i : s->n - 1];
}

static struct size size_mlp(const struct train_job *t, int64_t inputs)
{
    struct size z = { 0 };
    int64_t in = inputs;
    for (size_t i = 0; i <= t->hidden.n; i++) {
        int64_t out = i < t->hidden.n ? item(&t->hidden, i) : t->classes ? t->classes : 1;
        z.numbers += in * out + out;
        z.tensors += 2;
        in = out;
    }
    return z;
}

static void add_unit(struct size *z, int64_t in, int64_t out, int64_t window)
{
    z->numbers += in * out * window * window + 2 * out;
    z->tensors += 3;
}

static struct size size_cnn(const struct train_job *t)
{
    enum { STEM_FROM = 64 };
    struct size z = { 0 };
    int64_t in = item(&t->channels, 0);
    bool is_large = item(&t->image, 0) >= STEM_FROM && item(&t->image, 1) >= STEM_FROM;
    add_unit(&z, item(&t->image, 2), in, is_large ? 7 : 3);
    for (size_t stage = 0; stage < t->channels.n; stage++)
        for (int64_t i = 0, out = item(&t->channels, stage); i < item(&t->blocks, stage); i++, in = out) {
            add_unit(&z, in, out, 3);
            if (t->residual)
                add_unit(&z, out, out, 3);
            if (t->residual && ((stage && !i) || in != out))
                add_unit(&z, in, out, 1);
        }
    z.numbers += in * t->classes + t->classes;
    z.tensors += 2;
    return z;
}

static struct size size_gpt(const struct train_job *t)
{
    int64_t c = t->width, kv = t->kv_heads ? t->kv_heads : t->heads, row = c + 2 * kv * (c / t->heads);
    int64_t inner = t->gated ? (8 * c / 3 + 31) / 32 * 32 : 4 * c, up = t->gated ? 2 * inner : inner;
    struct size z = { .numbers = t->classes * c + t->context * (t->rotary ? c / t->heads : c) + 2 * c,
                     .tensors = 5 + 16 * t->layers };
    z.numbers += t->layers * (row * c + c * c + up * c + c * inner + (t->rms_norm ? 2 * c : 6 * c + row + up));
    return z;
}

/* Trees are whole-numbered tables (workers/compute/kernels/trees.h): 7 numbers for each node, 2 for each
 * tree. */
static struct size size_gbdt(const struct train_job *t)
{
    int64_t scores = t->objective == TRAIN_REGRESSION || t->classes == 2 ? 1 : t->classes ? t->classes : 2;
    return (struct size){ .numbers = t->trees * scores * ((2 * t->leaves - 1) * 7 + 2) + 2 * scores, .tensors = 4 };
}

/* Numbers that a net sees of so many columns, at most: workers/compute/train/columns.h. */
static int64_t seen_of(const struct train_job *t, int64_t inputs)
{
    int64_t words = (int64_t)t->category_columns.n;
    return (inputs - words) * (t->missing_values ? 2 : 1) + words * COLUMN_CODES_MAX;
}

static struct size size_of(const struct train_job *t, int64_t inputs)
{
    if (t->family == TRAIN_GBDT)
        return size_gbdt(t);
    return t->family == TRAIN_GPT ? size_gpt(t) : t->family == TRAIN_CNN ? size_cnn(t) : size_mlp(t, seen_of(t, inputs));
}

/* With mean and scale of each input and a header with the names of tensors and columns. */
int64_t train_job_model_bytes(const struct train_job *t, int64_t inputs)
{
    enum { HEADER = 16384, COLUMN = 160, TENSOR = 320, NUMBER = 4, WORD = 2 * WORD_BYTES_MAX };     /* a sign of two is \" */
    const struct size z = size_of(t, inputs);
    int64_t words = (int64_t)t->category_columns.n * COLUMN_CODES_MAX;
    return HEADER + COLUMN * inputs + WORD * words + TENSOR * z.tensors + NUMBER * (z.numbers + 3 * inputs + COLUMN_CODES_MAX);
}
