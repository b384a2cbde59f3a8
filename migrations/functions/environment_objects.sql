-- SPDX-License-Identifier: Apache-2.0
-- The archive of an environment and its copies in other zones: what a job that runs in it has as an input. Runs as its caller,
-- behind row-level security.
CREATE OR REPLACE FUNCTION environment_objects(t uuid, environment uuid) RETURNS SETOF uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT e.object_id FROM environment e WHERE e.tenant_id = t AND e.environment_id = environment_objects.environment
  UNION
  SELECT x.to_object FROM environment e
    JOIN transfer x ON x.tenant_id = t AND x.dataset_id = e.dataset_id AND x.version = e.dataset_version
   WHERE e.tenant_id = t AND e.environment_id = environment_objects.environment
$$;
GRANT EXECUTE ON FUNCTION environment_objects(uuid, uuid) TO falaj_app;
