/* SPDX-License-Identifier: Apache-2.0 */
/* hostile_module.c - the lying module of tests/fuzz as a library that falaj-keyd loads. HOSTILE: "null" (no functions), "empty" (a list
 * of NULL pointers), "crooked" (one function missing), else hexadecimal bytes of its script. */
#include "fuzz/p11_fake.h"

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list)
{
    static uint8_t script[4096];
    static CK_FUNCTION_LIST empty = { .version = { 2, 40 } };
    const char *how = getenv("HOSTILE") ? getenv("HOSTILE") : "";
    size_t n = strlen(how) / 2 < sizeof script ? strlen(how) / 2 : sizeof script;
    *list = strcmp(how, "null") == 0 ? NULL : strcmp(how, "empty") == 0 ? &empty : &fake_list;
    if (strcmp(how, "crooked") == 0)
        fake_list.C_UnwrapKey = NULL;
    if (!hex_decode(str_n(how, 2 * n), script, n))
        n = 0;
    fake_reset(script, n);
    return CKR_OK;
}
