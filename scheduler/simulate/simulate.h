/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.h - `falaj-scheduler simulate`: what a fleet would do with a list of tasks. No configuration, no database, no network.
 *
 *     simulate --nodes NODES.csv --tasks TASKS.csv --policy NAME [--seed N [--inflate BY] | --in-order] [--timed] [--placements
 * OUT.csv]
 *
 * Last it prints one JSON object on standard output. OUT.csv has a line for each task placed, in that order: task_index (line of
 * TASKS.csv
 * after the header, from 0), node, gpu_indices (from 0, `;` between them), gpu_milli (of each). */
#pragma once

/* argv[0]: "simulate". The exit status: 0 done, 1 the answer could not be written, 2 bad options or a bad file, told on standard
 * error. */
int simulate_main(int argc, char **argv);
