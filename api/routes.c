/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - the list of the route tables: every resource of the API. */
#include "api/route.h"

extern const struct route_table approval_routes, audit_routes, dataset_routes, deployment_routes, inference_routes, job_routes, job_stream_routes, lease_object_routes,
    lease_routes, model_routes, node_routes, system_routes, tenant_routes, user_routes, zone_routes;

const struct route_table *const all_routes[] = {
    &system_routes, &zone_routes, &tenant_routes, &user_routes, &dataset_routes, &job_routes, &job_stream_routes, &model_routes,
    &deployment_routes, &inference_routes, &node_routes, &lease_routes, &lease_object_routes, &audit_routes, &approval_routes, NULL
};
