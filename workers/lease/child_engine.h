/* SPDX-License-Identifier: Apache-2.0 */
/* child_engine.h - ONNX Runtime for a lease's child: its file is found before the sandbox closes, and opened within it when a
 * model needs it, so that others neither wait nor have its memory.
 *
 * Calling order: child_engine_find -> (sandbox) -> child_engine_door, as often as is asked -> models are freed ->
 * child_engine_close. The file must be readable by everybody. */
#pragma once
#include "workers/compute/infer/engine.h"
#include "workers/lease/child.h"

void child_engine_find(struct child *c);                        /* as the grant names it; "": nothing */
const char *child_engine_path(const struct child *c);           /* what the sandbox lets it open; NULL: nothing */
const struct infer_door *child_engine_door(struct child *c);    /* NULL: none is named */
void child_engine_close(struct child *c);
