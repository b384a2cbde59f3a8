/* SPDX-License-Identifier: Apache-2.0 */
/* provider.c - the key stores this build knows. */
#include "keys/provider.h"

const struct key_provider *provider_by_name(const char *name)
{
    static const struct key_provider *const all[] = { &provider_softfile, &provider_pkcs11 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}
