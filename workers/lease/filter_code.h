/* SPDX-License-Identifier: Apache-2.0 */
/* filter_code.h - instructions of a filter of system calls (classic BPF), one after the other; for sandbox.c and box_filter.c. */
#pragma once
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include "core/base/assert.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "name this machine's audit architecture"
#endif

enum { FILTER_CODE_MAX = 1024 };

struct filter_code {
    struct sock_filter code[FILTER_CODE_MAX];
    unsigned short n;
};

static inline void emit(struct filter_code *p, struct sock_filter f)
{
    ASSERT(p->n < FILTER_CODE_MAX);
    p->code[p->n++] = f;
}

#define LOAD(member) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, (value))
/* Jump over the next `over` instructions unless equal. */
#define UNLESS_EQUAL(value, over) (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (over))
/* Jump over the next `over` if one of these bits is set; if none is. */
#define IF_ANY(bits, over) (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (over), 0)
#define UNLESS_ANY(bits, over) (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (over))

/* Ours, and none of the x32 calls; leaves the call's number loaded. */
static inline void emit_arch(struct filter_code *p, unsigned deny)
{
    emit(p, LOAD(arch));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0));
    emit(p, RETURN(SECCOMP_RET_KILL_PROCESS));
    emit(p, LOAD(nr));
#if defined(__x86_64__)
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    emit(p, RETURN(deny));
#endif
}
