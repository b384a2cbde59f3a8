/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the statements of this folder, for the pools of falaj-api.
 *
 * registry_stmts run as falaj_app in one tenant's scope; registry_node_stmts run as falaj_worker_api in the system scope and name the
 * tenant of the lease in every one of them. */
#pragma once

struct stmt;

extern const struct stmt *const registry_stmts[];
extern const struct stmt *const evidence_stmts[];
extern const struct stmt *const registry_node_stmts[];
