/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - files that are part of the program, taken in by the assembler when it is built. */
#include "cli/embed.h"

#define EMBED(name, path)                                                                                                              \
    __asm__(".pushsection .rodata\n.balign 16\n.globl falaj_embed_" #name "\nfalaj_embed_" #name ":\n.incbin \"" path "\"\n"            \
            ".globl falaj_embed_" #name "_end\nfalaj_embed_" #name "_end:\n.byte 0\n.popsection\n");                                   \
    extern const char falaj_embed_##name[] __attribute__((visibility("hidden")));                                                      \
    extern const char falaj_embed_##name##_end[] __attribute__((visibility("hidden")))

EMBED(roles, FALAJ_EMBED_ROLES);
EMBED(superuser, FALAJ_EMBED_SUPERUSER);
EMBED(digits, FALAJ_EMBED_DIGITS);

struct str embed_roles_sql(void)
{
    return str_n(falaj_embed_roles, (size_t)(falaj_embed_roles_end - falaj_embed_roles));
}

struct str embed_superuser_sql(void)
{
    return str_n(falaj_embed_superuser, (size_t)(falaj_embed_superuser_end - falaj_embed_superuser));
}

struct str embed_digits_csv(void)
{
    return str_n(falaj_embed_digits, (size_t)(falaj_embed_digits_end - falaj_embed_digits));
}
