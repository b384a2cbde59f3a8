/* SPDX-License-Identifier: Apache-2.0 */
/* family.c - the table of families. */
#include "workers/compute/train/family.h"

const struct family *family_of(int job_family)
{
    static const struct family *const all[] = { [TRAIN_MLP] = &family_mlp, [TRAIN_CNN] = &family_cnn, [TRAIN_GPT] = &family_gpt };
    ASSERT(job_family >= 0 && (size_t)job_family < sizeof all / sizeof *all && all[job_family]);
    return all[job_family];
}
