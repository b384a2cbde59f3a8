/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - the list of the route tables: every resource of the API, one line each. */
#include "api/route.h"

#define ROUTE_TABLES(X) \
    X(system_routes) \
    X(system_health_routes) \
    X(zone_routes) \
    X(tenant_routes) \
    X(tenant_life_routes) \
    X(user_routes) \
    X(auth_routes) \
    X(mfa_routes) \
    X(session_routes) \
    X(invitation_routes) \
    X(device_routes) \
    X(break_glass_routes) \
    X(binding_routes) \
    X(group_routes) \
    X(scim_meta_routes) \
    X(scim_user_routes) \
    X(scim_group_routes) \
    X(project_routes) \
    X(issuer_routes) \
    X(identity_provider_routes) \
    X(oidc_routes) \
    X(dataset_routes) \
    X(upload_routes) \
    X(job_routes) \
    X(job_list_routes) \
    X(job_download_routes) \
    X(array_routes) \
    X(job_output_routes) \
    X(job_forecast_routes) \
    X(queue_clock_routes) \
    X(class_routes) X(view_routes) X(notification_routes) \
    X(queue_routes) X(secret_routes) X(environment_routes) X(legal_clock_routes) X(reservation_routes) X(engine_routes) \
    X(shared_environment_routes) \
    X(registry_host_routes) \
    X(job_stream_routes) X(inside_routes) X(idle_routes) \
    X(event_routes) \
    X(model_routes) \
    X(deployment_routes) X(repository_routes) \
    X(inference_routes) \
    X(generate_routes) \
    X(enrol_routes) \
    X(token_routes) \
    X(node_routes) \
    X(lease_routes) \
    X(lease_object_routes) \
    X(audit_routes) \
    X(audit_want_routes) \
    X(audit_csv_routes) \
    X(audit_summary_routes) \
    X(audit_export_routes) \
    X(audit_rule_routes) \
    X(appointment_routes) \
    X(approval_routes) \
    X(access_routes) \
    X(key_routes) \
    X(root_key_routes) \
    X(quota_routes) \
    X(budget_routes) \
    X(usage_routes) \
    X(residency_routes)

#define DECLARE(table) extern const struct route_table table;
ROUTE_TABLES(DECLARE)

#define ADDRESS(table) &table,
const struct route_table *const all_routes[] = { ROUTE_TABLES(ADDRESS) NULL };
