/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - every statement of this folder, by the role that runs it. */
#include "registry/registry.h"
#include "registry/registry_int.h"

const struct stmt *const registry_stmts[] = {
    &tenant_key_primary_stmt, &tenant_key_insert_stmt, &tenant_key_count_stmt,
    &object_insert_stmt, &object_get_stmt, &object_keys_stmt,
    &dataset_create_stmt, &dataset_get_stmt, &dataset_list_stmt, &dataset_next_stmt, &dataset_version_insert_stmt, &dataset_version_get_stmt,
    &dataset_version_list_stmt, &dataset_change_stmt,
    &model_source_stmt, &model_next_stmt, &model_version_insert_stmt, &model_get_stmt, &model_list_stmt, &model_version_get_stmt,
    &model_version_list_stmt, &model_change_stmt,
    &transfer_insert_stmt, &transfer_get_stmt, &transfer_list_stmt,
    &upload_turn_stmt, &upload_open_stmt, &upload_insert_stmt, &upload_get_stmt, &upload_lock_stmt, &upload_list_stmt, &upload_grow_stmt,
    &upload_part_insert_stmt, &upload_part_at_stmt, &upload_parts_stmt, &upload_parts_end_stmt, &upload_claim_stmt,
        &upload_resume_stmt, &upload_progress_stmt,
    &upload_complete_stmt, &upload_unclaim_stmt, &upload_delete_stmt,
    &content_delete_stmt, &checkpoint_list_stmt,
    NULL
};

const struct stmt *const registry_node_stmts[] = {
    &tenant_key_primary_stmt, &tenant_key_count_stmt, &worker_keys_stmt, &worker_shared_keys_stmt,
    &worker_input_stmt, &worker_shared_input_stmt, &worker_output_find_stmt,
    &worker_output_insert_stmt, &worker_output_get_stmt, &worker_output_store_stmt, &orphan_known_stmt,
    &upload_due_stmt, &checkpoint_insert_stmt, &checkpoint_keep_stmt, &checkpoint_further_stmt, &checkpoint_book_stmt,
    &checkpoint_drop_stmt, &checkpoint_sweep_stmt,
    NULL
};
