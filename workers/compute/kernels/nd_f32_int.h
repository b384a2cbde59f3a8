/* SPDX-License-Identifier: Apache-2.0 */
/* nd_f32_int.h - what nd_int.h takes for fp32 in the reference and in the vector variants alike; each adds its own EXP, TANH
 * and ERF. nd_int.h undefines all of them. */
#define REAL float
#define FN(name) f32_##name
#define LOG(x) logf(x)
#define SQRT(x) sqrtf(x)
#define POW(x, y) powf(x, y)
#define ABS(x) fabsf(x)
#define FLOOR(x) floorf(x)
#define CEIL(x) ceilf(x)
#define ROUND(x) rintf(x)
#define SIN(x) sinf(x)
#define COS(x) cosf(x)
