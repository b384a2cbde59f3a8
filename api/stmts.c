/* SPDX-License-Identifier: Apache-2.0 */
/* stmts.c - the statements of falaj-api by the login that runs them: a folder's list is one line. */
#include "api/stmts.h"
#include "api/bootstrap.h"
#include "api/changed_by.h"
#include "api/event_feed.h"
#include "audit/actor_name.h"
#include "audit/erasure.h"
#include "audit/erasure_keeper.h"
#include "audit/event.h"
#include "audit/export.h"
#include "audit/export_job.h"
#include "audit/head_proof.h"
#include "audit/hold.h"
#include "audit/last_change.h"
#include "audit/pii.h"
#include "audit/retention.h"
#include "audit/search.h"
#include "audit/tail.h"
#include "audit/thing_name.h"
#include "registry/evidence/passport.h"
#include "registry/evidence/what_if.h"
#include "registry/catalog/secret.h"
#include "registry/registry.h"
#include "registry/vault/key_impact.h"
#include "registry/vault/key_life.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/key_shred.h"
#include "registry/vault/shred_again.h"
#include "registry/vault/root_key.h"
#include "scheduler/jobs/idle_policy.h"
#include "scheduler/jobs/inside.h"
#include "scheduler/engine/enrol.h"
#include "scheduler/engine/join_token.h"
#include "scheduler/engine/lease.h"
#include "scheduler/engine/lease_call.h"
#include "scheduler/engine/node.h"
#include "scheduler/engine/node_state.h"
#include "scheduler/engine/reservation.h"
#include "scheduler/engines/record.h"
#include "scheduler/invariants.h"
#include "scheduler/jobs/dependency.h"
#include "scheduler/jobs/forecast.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_dataset.h"
#include "scheduler/jobs/job_output.h"
#include "scheduler/jobs/job_hold.h"
#include "scheduler/jobs/job_suspend.h"
#include "scheduler/jobs/array_act.h"
#include "scheduler/jobs/job_search.h"
#include "scheduler/jobs/outlook.h"
#include "scheduler/jobs/environment.h"
#include "scheduler/jobs/environment_shared.h"
#include "scheduler/jobs/registry_host.h"
#include "scheduler/jobs/job_queue.h"
#include "scheduler/jobs/priority_class.h"
#include "scheduler/jobs/submit_names.h"
#include "scheduler/jobs/queue_share.h"
#include "scheduler/jobs/secret_use.h"
#include "scheduler/jobs/series.h"
#include "scheduler/jobs/watch.h"
#include "scheduler/mirror/board.h"
#include "scheduler/mirror/capacity.h"
#include "scheduler/mirror/rules.h"
#include "scheduler/round.h"
#include "serving/deployment.h"
#include "serving/infer_stats.h"
#include "serving/roll.h"
#include "tenants/access/appointment.h"
#include "tenants/access/approval.h"
#include "tenants/access/binding.h"
#include "tenants/access/credential.h"
#include "tenants/access/explain.h"
#include "tenants/access/principal_load.h"
#include "tenants/access/second_person.h"
#include "tenants/accounts/api_rate.h"
#include "tenants/accounts/budget.h"
#include "tenants/accounts/price.h"
#include "tenants/accounts/quota.h"
#include "tenants/accounts/quota_rule.h"
#include "tenants/accounts/usage.h"
#include "tenants/home/legal_clock.h"
#include "tenants/home/project.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/tenant.h"
#include "tenants/home/tenant_life.h"
#include "tenants/home/transfer_policy.h"
#include "tenants/home/zone.h"
#include "tenants/home/zone_law.h"
#include "tenants/identity/api_token.h"
#include "tenants/identity/authn.h"
#include "tenants/identity/break_glass.h"
#include "tenants/identity/device.h"
#include "tenants/identity/identity_provider.h"
#include "tenants/identity/invitation.h"
#include "tenants/identity/issuer.h"
#include "tenants/identity/jwt_authn.h"
#include "tenants/identity/local_auth.h"
#include "tenants/identity/login_guard.h"
#include "tenants/identity/oidc.h"
#include "tenants/identity/password.h"
#include "tenants/identity/saved_view.h"
#include "tenants/identity/scim_group.h"
#include "tenants/identity/scim_user.h"
#include "tenants/identity/service_account.h"
#include "tenants/identity/session.h"
#include "tenants/identity/session_authn.h"
#include "tenants/identity/totp.h"
#include "tenants/identity/user.h"
#include "tenants/identity/user_group.h"
#include "tenants/notice/delivery.h"
#include "tenants/notice/person.h"
#include "tenants/notice/rule.h"

extern const struct stmt *const idempotency_stmts[];

const struct stmt *const *const api_stmts[] = {
    authn_stmts,
    local_auth_stmts,
    login_guard_stmts,
    password_stmts,
    totp_stmts,
    session_stmts,
    session_authn_stmts,
    invitation_stmts,
    device_stmts,
    break_glass_stmts,
    issuer_stmts,
    jwt_authn_stmts,
    identity_provider_stmts,
    oidc_stmts,
    principal_stmts,
    approval_stmts,
    second_person_stmts,
    appointment_stmts,
    explain_stmts,
    residency_stmts,
    project_stmts,
    binding_stmts,
    transfer_policy_stmts,
    zone_law_stmts, legal_clock_stmts,
    evidence_stmts, passport_stmts, what_if_stmts,
    zone_stmts,
    tenant_stmts,
    tenant_life_stmts,
    user_stmts, saved_view_stmts, user_group_stmts, scim_user_stmts, scim_group_stmts,
    api_token_stmts,
    credential_stmts,
    service_account_stmts,
    quota_stmts, quota_rule_stmts, price_stmts, budget_stmts, usage_stmts, api_rate_stmts,
    notice_rule_stmts, notice_person_stmts, notice_delivery_stmts, audit_tail_stmts,
    bootstrap_stmts,
    changed_by_stmts,
    idempotency_stmts,
    job_stmts,
    job_apply_stmts,
    job_search_stmts,
    job_hold_stmts, job_suspend_stmts, job_array_stmts, array_act_stmts,
    dependency_stmts, forecast_stmts, outlook_stmts, rules_own_stmts, board_stmts,
    job_dataset_stmts,
    job_output_stmts,
    capacity_stmts,
    priority_class_stmts, submit_names_stmts,
    job_queue_stmts, queue_share_stmts, secret_stmts, secret_use_stmts,
    environment_stmts, environment_trust_stmts, shared_environment_stmts, registry_host_stmts,
    environment_pull_stmts, inside_stmts, idle_policy_stmts,
    invariants_stmts,
    system_facts_stmts,
    watch_stmts,
    series_stmts,
    feed_stmts,
    registry_stmts,
    deployment_stmts,
    infer_stats_stmts, roll_stmts,
    node_stmts,
    node_state_stmts, reservation_stmts, engine_stmts,
    join_token_stmts,
    enrol_stmts,
    audit_event_stmts,
    audit_export_stmts,
    audit_proof_stmts,
    audit_head_proof_stmts,
    audit_export_job_stmts,
    audit_search_stmts,
    audit_last_change_stmts,
    audit_actor_name_stmts, audit_thing_stmts,
    audit_hold_stmts,
    audit_retention_stmts,
    audit_erasure_stmts, erasure_keeper_stmts,
    audit_pii_stmts,
    key_life_stmts, key_impact_stmts,
    key_rewrap_stmts,
    key_shred_stmts, shred_again_stmts,
    root_key_stmts,
    NULL
};
const struct stmt *const *const api_node_stmts[] = {
    residency_stmts, lease_stmts, lease_call_stmts, lease_member_stmts, lease_idle_stmts, lease_back_stmts, lease_end_stmts,
    job_apply_stmts, node_worker_stmts, enrol_node_stmts, registry_node_stmts,
        secret_node_stmts, environment_node_stmts, environment_pull_node_stmts, environment_lease_stmts,
        shared_environment_lease_stmts, inside_node_stmts,
    audit_event_stmts, NULL
};
