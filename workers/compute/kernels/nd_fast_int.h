/* SPDX-License-Identifier: Apache-2.0 */
/* nd_fast_int.h - the operations of nd_int.h in fp32 for the vector variants, with exp, tanh and erf that the compiler turns
 * into vectors; included once per variant after ops_int.h.
 *
 * erf: x times a polynomial in x² up to 1/2 (Taylor, degree 11), beyond it Abramowitz & Stegun 7.1.26, absolute error below
 * 5e-7. tanh: Taylor up to 1/4, then by exp. */
#include "workers/compute/kernels/nd_walk_int.h"

static inline float nd_tanh(float v)
{
    float s = v * v, near = v * (1 + s * (-1.0f / 3 + s * (2.0f / 15 + s * (-17.0f / 315 + s * (62.0f / 2835)))));
    float far = 1.0f - 2.0f / (exp_fast(2.0f * v) + 1.0f);
    return s < 0.0625f ? near : far;
}

static inline float nd_erf(float v)
{
    float s = v * v, top = fabsf(v), t = 1.0f / (1.0f + 0.3275911f * top);
    float near = v * (1.128379167f + s * (-0.3761263890f + s * (0.1128379167f + s * (-0.02686617064f
                      + s * (0.005223977625f + s * -0.0008548327023f)))));
    float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    float far = 1.0f - p * exp_fast(-s);
    return top < 0.5f ? near : v < 0 ? -far : far;
}

#include "workers/compute/kernels/nd_f32_int.h"
#define EXP(x) exp_fast(x)
#define TANH(x) nd_tanh(x)
#define ERF(x) nd_erf(x)
#include "workers/compute/kernels/nd_int.h"
