/* SPDX-License-Identifier: Apache-2.0 */
/* registry_int.h - what the files of this folder share with each other and with nobody else: their statements. */
#pragma once
#include "core/db/stmt.h"
#include "core/table/schema.h"

struct err;
struct work;
struct data_found;
struct dataset_version;
/* The stored and checked object as the next version of the data set. */
enum errc dataset_version_of(struct work *w, struct uuid dataset_id, struct uuid object_id, int format,
                             const struct data_found *found, struct dataset_version *ret, struct err *e) MUST_CHECK;

extern const struct stmt tenant_key_primary_stmt, tenant_key_insert_stmt, tenant_key_count_stmt;
extern const struct stmt object_insert_stmt, object_get_stmt, object_keys_stmt;
extern const struct stmt dataset_create_stmt, dataset_get_stmt, dataset_list_stmt, dataset_next_stmt, dataset_version_insert_stmt,
    dataset_version_get_stmt, dataset_version_list_stmt, dataset_change_stmt;
extern const struct stmt model_source_stmt, model_next_stmt, model_version_insert_stmt, model_get_stmt, model_list_stmt, model_version_get_stmt,
    model_version_list_stmt, model_change_stmt;
extern const struct stmt content_delete_stmt;
extern const struct stmt transfer_insert_stmt, transfer_get_stmt, transfer_list_stmt;
extern const struct stmt worker_keys_stmt, worker_shared_keys_stmt, worker_input_stmt, worker_shared_input_stmt,
    worker_output_find_stmt, worker_output_insert_stmt, worker_output_get_stmt,
    worker_output_store_stmt, orphan_known_stmt;
extern const struct stmt checkpoint_insert_stmt, checkpoint_keep_stmt, checkpoint_further_stmt, checkpoint_book_stmt,
    checkpoint_drop_stmt, checkpoint_sweep_stmt, checkpoint_list_stmt;
extern const struct stmt upload_turn_stmt, upload_open_stmt, upload_insert_stmt, upload_get_stmt, upload_lock_stmt, upload_list_stmt, upload_grow_stmt,
    upload_part_insert_stmt, upload_part_at_stmt, upload_parts_stmt, upload_parts_end_stmt, upload_claim_stmt, upload_resume_stmt, upload_progress_stmt, upload_complete_stmt, upload_unclaim_stmt,
    upload_delete_stmt, upload_due_stmt;
