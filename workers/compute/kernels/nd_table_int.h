/* SPDX-License-Identifier: Apache-2.0 */
/* nd_table_int.h - the column of one type in a kernel table, of the operations of nd_int.h. */
#define KERNELS_ND(type, prefix)                                                                                \
    [OP_UNARY][type] = prefix##unary, [OP_BINARY][type] = prefix##binary, [OP_SELECT][type] = prefix##select,    \
    [OP_TRANSPOSE][type] = prefix##transpose, [OP_SLICE][type] = prefix##slice, [OP_CONCAT][type] = prefix##concat, \
    [OP_REDUCE][type] = prefix##reduce, [OP_BMM][type] = prefix##bmm
