-- SPDX-License-Identifier: Apache-2.0
-- Where the archive of an environment lies, of which class, how large. Runs as its caller, behind row-level security.
CREATE OR REPLACE FUNCTION environment_place(t uuid, archive uuid)
RETURNS TABLE (zone text, data_class text, size_bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT o.zone, o.data_class, o.size_bytes FROM object o WHERE o.tenant_id = t AND o.object_id = archive
$$;
GRANT EXECUTE ON FUNCTION environment_place(uuid, uuid) TO falaj_app;
