/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - a model of any family as a graph that trains: parameters with their names and first values, data in, loss and best
 * answers out.
 *
 * A family (family.h) is a builder: it declares weights (which decay), then vectors (which do not), then the way from input to
 * logits;
 * what follows is the same for all: loss, backward pass, norm and clipping of the gradient, the optimiser over two flat segments.
 * All memory is planned and allocated once for a largest batch. Parameters, gradients and the optimiser's state lie in the order
 * in which
 * they were declared. Calling order: net_new -> net_init or the parameters put -> net_put -> net_exec -> net_loss. Not
 * thread-safe. */
#pragma once
#include "core/data/safetensors.h"
#include "workers/compute/graph/run.h"
#include "workers/compute/train/rate.h"

struct st_tensor;
struct columns;

enum { NET_NAME_BYTES = 80, NET_PARAMS_MAX = 4096, NET_NODES_MORE = 48 };

enum net_goal { NET_CLASSES, NET_REGRESSION, NET_LABELS };      /* one class of many; numbers; any of several labels */

/* How a tensor of the model file lies in memory: the file has PyTorch's order. */
enum net_layout { NET_AS_IS, NET_TURNED, NET_WINDOW };          /* TURNED: [in, out] in the file; WINDOW: [out, in, h, w] */

struct net_tensor {             /* of the model file: a parameter, or some of its rows */
    char name[NET_NAME_BYTES];
    unsigned rank;
    size_t dim[4];              /* in the file */
    size_t at, count;           /* numbers of the flat parameters, of the whole model */
    enum net_layout layout;
};

struct net_first {              /* first values of a parameter: deviation·normal number, or fill everywhere */
    size_t at, count;           /* of the whole model */
    double deviation, fill;
    size_t stream;              /* of random numbers */
};

/* What a rank has of a parameter that is cut among the ranks that share a layer (net_spec.tensor_ranks): of each part, which is
 * some rows of it, as many rows as the others; or, by columns, as many columns. */
enum { NET_PARTS_MAX = 3 };
struct net_split {
    bool by_columns;
    size_t parts, rows[NET_PARTS_MAX];  /* of the whole parameter, behind each other; by columns: none */
};

/* Numbers that lie here and in the whole model: count runs of `run` numbers each, `here_pitch` and `whole_pitch` apart. Another
 * rank has those `step` further on in the whole for each rank between. */
struct net_cut {
    size_t first;               /* index of the parameter in net.firsts */
    size_t here, whole, run, count, here_pitch, whole_pitch, step;
};

struct net_shape {              /* what the data is: known before the model is */
    size_t inputs;              /* numbers of a row; tokens of a sequence */
    size_t outputs;             /* classes, numbers, labels; words of a vocabulary */
    enum net_goal goal;
};

struct net_spec {
    enum elem type;             /* f32; f64 for gradient checks */
    const struct train_job *job;
    struct net_shape shape;
    size_t max_rows;
    size_t max_bytes;           /* all memory of the model, its gradients, its optimiser and one batch; 0: no limit */
    bool has_update;            /* the optimiser of the job; without it gradients only */
    bool is_bf16;               /* of a net that learns, in f32: factors of products in bf16 (net_is_bf16) */
    bool launches_each;         /* of a device: operation by operation, never a captured sequence; the same bits */
    bool recomputes;            /* blocks of cnn and gpt drop what their backward pass makes again: less memory, the same bits */
    bool is_serving;            /* logits, and nothing that learns */
    int rank, ranks;            /* the optimiser's state and update of this rank's piece alone (comm.h); ranks 0: of all */
    int tensor_rank, tensor_ranks;      /* of gpt: a part of every layer alone (docs/adr/0124); ranks 0, 1: all of it */
    const struct run_ranks *over;       /* with tensor_ranks: who adds up over them */
};

struct net {
    const struct backend *be;
    struct backend_ctx *ctx;
    struct net_spec spec;
    struct plan *plan;
    struct run *run;
    struct graph *g;            /* the plan's */
    struct arena *arena;        /* of the tables and of constants of the graph */
    struct net_tensor *tensors;
    struct net_first *firsts;
    size_t tensor_count, first_count;
    size_t numbers, decayed;    /* parameters that lie here, and those from the first on that decay */
    size_t whole;               /* parameters of the whole model: as many, but with tensor_ranks */
    struct net_cut *cuts;
    size_t cut_count;
    size_t split_from, split_end;       /* of those here: which are a part of a cut parameter; the others all ranks have alike */
    struct net_split split;     /* of the parameter that is declared next; parts 0 and not by columns: it is not cut */
    size_t last_whole;          /* where the last parameter lies in the whole model */
    int norm_parts[3];          /* with tensor_ranks: squared norms of the cut ones, and of the others, f64 (PHASE_NORM) */
    size_t shard_from, shard_count;     /* those that are updated here, with their optimiser's state: all, or a piece */
    int x, target, logits, best, loss, norm2;   /* values of the graph; norm2: squared norm of the gradient,
        f64; VALUE_NONE: none */
    int soft;                   /* a teacher's probabilities, as the logits in shape; VALUE_NONE: no teacher */
    size_t items;               /* answers per row: 1, or the tokens of a sequence */
    int streams;                /* of dropout, so far */
    const struct net_served *served;    /* NULL: parameters are to be learnt */
    struct st_tensor derived;   /* a constant of the graph that is computed and the model file holds, too; rank 0: none */
};

/* What stands for the parameters in the graph of a model file (served.h). */
struct net_served {
    const struct st_tensor *tensors;    /* of the file, in the order in which the family names them */
    const struct columns *columns;      /* of a table */
};

/* What the job's precision comes to on this backend: auto is bf16 where instructions make it faster. */
bool net_is_bf16(const struct train_job *job, const struct backend *be);
/* LIMIT: it does not fit in max_bytes. UNPROCESSABLE: a wrong size, or the backend lacks an operation, named. */
enum errc net_new(const struct backend *be, struct backend_ctx *ctx, const struct net_spec *spec, struct net **ret,
                  struct err *e);
void net_free(struct net *n);
void net_freep(struct net **n);
void net_init(struct net *n, uint64_t seed);
/* x: floats, or i32 tokens; target: i32 classes (of each token), or floats. Of a model in fp32. */
void net_put(struct net *n, const void *x, const void *target, size_t rows);
/* Parameters, or as many numbers of another kind, of one rank from the whole model's and into it. f32. */
void net_take(const struct net *n, int rank, const float *whole, float *here);
void net_give(const struct net *n, int rank, const float *here, float *whole);
/* A teacher's probabilities of the same rows, where the job has one. */
void net_put_soft(struct net *n, const float *soft, size_t rows);
/* FORWARD: loss; with BACKWARD the gradients, each row weighing loss_scale/rows; EVAL: best answers; UPDATE: optimiser. */
void net_exec(struct net *n, size_t rows, unsigned phases, bool accumulate, const struct step_scalars *at);
enum errc net_loss(struct net *n, double *loss_sum, struct err *e);     /* over the answers of the last net_exec */
void net_best(struct net *n, int32_t *ret, size_t rows);                /* valid after net_loss or run_sync */
void net_answers(struct net *n, float *ret, size_t rows);             /* the same of numbers and flags: the logits */
/* Multiplications and additions of the products of a step per row, nothing made again counted: what MFU counts. */
double net_flops(const struct net *n);
double net_node_flops(const struct net *n, const struct node *o, size_t rows);       /* of one operation for so many rows */

/* For builders. Weights first: a vector makes those before it the ones that decay. */
int net_input(struct net *n, struct shape shape);                       /* sets n->x */
int net_weight(struct net *n, const char *name, enum net_layout layout, unsigned rank, const size_t *dim, double deviation);
int net_vector(struct net *n, const char *name, unsigned rank, const size_t *dim, double fill);
void net_first(struct net *n, int value, double deviation);             /* random first values for a vector */
static inline int net_tensor_ranks(const struct net *n) { return n->spec.tensor_ranks > 1 ? n->spec.tensor_ranks : 1; }
/* Another name for rows `from` … of the parameter declared last with name NULL, from its first row to its last. */
void net_part(struct net *n, int value, size_t from_row, size_t rows, const char *name);
int net_dropout(struct net *n, int x);                                  /* by the job's rate; x where that is 0 */
PRINTF_LIKE(2, 3) const char *net_name(struct net *n, const char *fmt, ...);
