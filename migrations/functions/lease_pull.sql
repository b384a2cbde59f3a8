-- SPDX-License-Identifier: Apache-2.0
-- The spec of a job that pulls an image, with what the zone's row of that registry says now: a row that was changed or taken away
-- binds the next lease. Without a row that allows it, the spec says nothing of it, and the machine refuses.
CREATE OR REPLACE FUNCTION lease_pull(spec jsonb, of_zone text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT spec || coalesce((
    SELECT jsonb_build_object('is_allowed', true, 'hosts', to_jsonb(h.hosts), 'ca_pem', h.ca_pem, 'reach', h.reach,
                              'max_bytes', h.max_bytes, 'silent_s', h.silent_s)
      FROM registry_host h WHERE h.zone = of_zone AND h.host = spec->>'registry' AND h.allowed), '{}')
$$;
GRANT EXECUTE ON FUNCTION lease_pull(jsonb, text) TO falaj_worker_api, falaj_system;
