-- SPDX-License-Identifier: Apache-2.0
-- What hangs on a version of a tenant's key in a zone: by kind, what can be opened only with a data key that is wrapped under it.
-- Data sets and models with the number and bytes of their objects there, deployments that serve such a model, images that are
-- published to other tenants, jobs that are not over and read or made such an object; then, in one row each, other objects
-- (parts of uploads, outputs of jobs) and keys of people in the log. Runs as its caller, behind row-level security.
CREATE OR REPLACE FUNCTION key_hangs(t uuid, of_zone text, of_version bigint, most bigint)
RETURNS TABLE (kind text, id text, name text, display_name text, display_name_ar text, objects bigint, bytes bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  WITH o AS MATERIALIZED (
    SELECT b.object_id, b.kind, b.stored_bytes
      FROM dek d JOIN object b ON b.tenant_id = t AND b.object_id = d.object_id AND b.state = 'COMMITTED'
     WHERE d.tenant_id = t AND d.zone = of_zone AND d.key_version = of_version AND d.wrapped IS NOT NULL),
  sets AS (
    SELECT s.dataset_id, s.name, s.display_name AS en, s.display_name_ar AS ar, o.object_id, o.stored_bytes
      FROM o JOIN LATERAL (SELECT v.dataset_id FROM dataset_version v WHERE v.tenant_id = t AND v.object_id = o.object_id
                           UNION SELECT x.dataset_id FROM transfer x WHERE x.tenant_id = t AND x.to_object = o.object_id) v
           ON true
           JOIN dataset s ON s.tenant_id = t AND s.dataset_id = v.dataset_id),
  models AS (
    SELECT m.model_id, m.name, m.display_name AS en, m.display_name_ar AS ar, v.version, o.object_id, o.stored_bytes
      FROM o JOIN model_version v ON v.tenant_id = t AND v.object_id = o.object_id
           JOIN model m ON m.tenant_id = t AND m.model_id = v.model_id),
  found AS (
    SELECT 1 AS n, 'dataset' AS kind, 'dst_' || replace(dataset_id::text, '-', '') AS id, name, en, ar, count(*) AS objects,
           sum(stored_bytes)::bigint AS bytes FROM sets GROUP BY dataset_id, name, en, ar
    UNION ALL
    SELECT 2, 'model', 'mdl_' || replace(model_id::text, '-', ''), name, en, ar, count(*), sum(stored_bytes)::bigint
      FROM models GROUP BY model_id, name, en, ar
    UNION ALL
    SELECT 3, 'deployment', 'dpl_' || replace(d.deployment_id::text, '-', ''), d.name, '', '', 1, 0 FROM deployment d
     WHERE d.tenant_id = t AND d.state = 'ACTIVE'
       AND EXISTS (SELECT FROM models m WHERE m.model_id = d.model_id AND m.version = d.model_version)
    UNION ALL
    SELECT 4, 'shared', 'shi_' || replace(s.shared_id::text, '-', ''), s.name, '', '', 1, 0
      FROM shared_environment s JOIN o ON o.object_id = s.object_id WHERE s.owner_id = t AND s.withdrawn_at IS NULL
    UNION ALL
    SELECT 5, 'job', 'job_' || replace(j.job_id::text, '-', ''), j.name, '', '', count(*), 0
      FROM job j JOIN job_object i ON i.tenant_id = t AND i.job_id = j.job_id JOIN o ON o.object_id = i.object_id
     WHERE j.tenant_id = t AND j.finished_at IS NULL GROUP BY j.job_id, j.name
    UNION ALL
    SELECT 6, 'other', NULL, '', '', '', count(*), coalesce(sum(o.stored_bytes), 0)::bigint FROM o
     WHERE o.object_id NOT IN (SELECT s.object_id FROM sets s) AND o.object_id NOT IN (SELECT m.object_id FROM models m)
    HAVING count(*) > 0
    UNION ALL
    SELECT 7, 'person', NULL, '', '', '', count(*), 0 FROM audit_subject_key s
     WHERE s.tenant_id = t AND s.zone = of_zone AND s.key_version = of_version AND s.wrapped IS NOT NULL HAVING count(*) > 0)
  SELECT f.kind, f.id, f.name, f.en, f.ar, f.objects, f.bytes FROM found f ORDER BY f.n, f.name, f.id LIMIT most $$;
GRANT EXECUTE ON FUNCTION key_hangs(uuid, text, bigint, bigint) TO falaj_app;
