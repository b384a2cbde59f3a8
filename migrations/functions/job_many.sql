-- SPDX-License-Identifier: Apache-2.0
-- Whether a tenant has more jobs in these last states (NULL: that wait) than are looked through for a part of a name.
CREATE OR REPLACE FUNCTION job_many(t uuid, last_states text[]) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT CASE WHEN last_states IS NULL THEN (SELECT count(*) FROM (SELECT FROM job WHERE tenant_id = t AND queued LIMIT 4001) x)
              ELSE (SELECT count(*) FROM (SELECT FROM job WHERE tenant_id = t
                  AND ended = ANY (last_states) LIMIT 4001) x) END > 4000 $$;
