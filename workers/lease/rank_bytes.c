/* SPDX-License-Identifier: Apache-2.0 */
/* rank_bytes.c - the build makes the program first and says where it is (FALAJ_RANK_FILE). */
#include "workers/lease/rank_bytes.h"

__asm__(".pushsection .rodata\n"
        ".global falaj_rank_begin, falaj_rank_end\n"
        "falaj_rank_begin:\n"
        ".incbin \"" FALAJ_RANK_FILE "\"\n"
        "falaj_rank_end:\n"
        ".popsection\n");
extern const char falaj_rank_begin[], falaj_rank_end[];

struct str rank_bytes(void)
{
    return str_n(falaj_rank_begin, (size_t)(falaj_rank_end - falaj_rank_begin));
}
