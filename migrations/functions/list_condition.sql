-- SPDX-License-Identifier: Apache-2.0
-- The condition that a filter of a list means, with its value in it; an unknown one is a fault of the program that asks.
CREATE OR REPLACE FUNCTION list_condition(list text, filter text, val text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF (list, filter) IN (('dataset', 'data_class'), ('dataset', 'project_id'), ('dataset', 'created_by'), ('model', 'project_id'), ('model', 'created_by'),
                        ('deployment', 'model_id'), ('deployment', 'project_id'), ('deployment', 'created_by'), ('app_user', 'state'),
                        ('app_user', 'kind'), ('project', 'state'), ('api_token', 'user_id'), ('tenant', 'state'), ('node', 'state'),
                        ('node', 'zone'), ('node', 'pool')) THEN
    RETURN format(' AND x.%I = %L', filter, val);
  END IF;
  IF (list, filter) IN (('app_user', 'name'), ('project', 'name'), ('api_token', 'name'), ('tenant', 'name')) THEN
    RETURN format(' AND x.name LIKE %L', substr(job_pattern(val), 2));
  END IF;
  IF filter = 'zone' AND list IN ('dataset', 'model') THEN
    RETURN format(' AND x.%1$I IN (SELECT v.%1$I FROM object o JOIN %2$I v ON v.tenant_id = o.tenant_id AND v.object_id = o.object_id'
                  ' WHERE o.tenant_id = $1 AND o.zone = %3$L AND o.kind = %4$L)', list || '_id', list || '_version', val, list);
  END IF;
  RETURN CASE list || '.' || filter || '.' || CASE WHEN filter IN ('ready', 'state') THEN val ELSE '' END
    WHEN 'app_user.role.' THEN format(' AND x.user_id IN (SELECT b.user_id FROM role_binding b WHERE b.tenant_id = $1 AND b.role = %L'
                                        ' AND ($5 IS NULL OR b.project_id = ANY ($5)))', val)
    -- What answers is bounded by the machines there are, so either way the work is.
    WHEN 'deployment.ready.true' THEN ' AND x.job_id = ANY (ARRAY(' || serving_jobs() || '))'
    WHEN 'deployment.ready.false' THEN ' AND NOT x.job_id = ANY (ARRAY(' || serving_jobs() || '))'
    WHEN 'api_token.state.active' THEN ' AND x.revoked_at IS NULL AND x.expires_at > clock_timestamp()'
    WHEN 'api_token.state.expired' THEN ' AND x.revoked_at IS NULL AND x.expires_at <= clock_timestamp()'
    WHEN 'api_token.state.revoked' THEN ' AND x.revoked_at IS NOT NULL'
  END;
END $$;
