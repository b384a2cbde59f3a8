/* SPDX-License-Identifier: Apache-2.0 */
/* child_meter.h - a training's meter in the child: it asks the agent, which measures (frame.h, ENERGY).
 *
 * To be read on the thread that speaks with the agent, and not between WANT or PLACE and its answer. Memory: the child's arena.
 * Not measured, and an agent that is gone, are both false. */
#pragma once
#include "workers/compute/train/engine.h"
#include "workers/lease/child.h"

const struct train_meter *child_meter_new(struct child *c);
