-- SPDX-License-Identifier: Apache-2.0
-- What of a tenant the judge of residency may be asked about, for one data set or for all data of a class: where the newest
-- version of each data set and its copies lie, jobs that have not ended, deployments. zone: where it lies or runs; NULL: it
-- waits for a place. pinned: a job that may run in its zone only. Newest first, at most `most` of each kind. Runs as its
-- caller, behind row-level security.
CREATE OR REPLACE FUNCTION residency_things(t uuid, set_id uuid, of_class text, most bigint)
RETURNS TABLE (thing text, thing_id uuid, name text, display_name text, display_name_ar text, state text, job_kind text,
               thing_version bigint, zone text, pinned boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  (SELECT 'dataset', d.dataset_id, d.name, d.display_name, d.display_name_ar, '', '', d.latest_version, p.zone, false
     FROM dataset d CROSS JOIN LATERAL passport_places(t, d.dataset_id, most) p
    WHERE d.tenant_id = t AND d.data_class = of_class AND (set_id IS NULL OR d.dataset_id = set_id)
      AND p.version = d.latest_version
    ORDER BY d.dataset_id DESC, p.is_copy LIMIT most)
  UNION ALL
  (SELECT 'job', j.job_id, j.name, '', '', j.state, j.kind, 0, coalesce(j.zone, n.zone), j.zone IS NOT NULL
     FROM job j
          LEFT JOIN attempt a ON a.tenant_id = t AND a.job_id = j.job_id AND a.fence = j.fence AND a.live
          LEFT JOIN node n ON n.node_id = a.node_id
    WHERE j.tenant_id = t AND j.data_class = of_class AND j.ended IS NULL AND NOT job_stays(j.kind)
      AND (set_id IS NULL OR EXISTS (SELECT FROM job_object i JOIN passport_places(t, set_id, most) p ON p.object_id = i.object_id
                                      WHERE i.tenant_id = t AND i.job_id = j.job_id AND i.direction = 'input'))
    ORDER BY j.job_id DESC LIMIT most)
  UNION ALL
  (SELECT 'deployment', d.deployment_id, d.name, '', '', j.state, j.kind, d.model_version, coalesce(j.zone, n.zone),
          j.zone IS NOT NULL
     FROM deployment d
          JOIN job j ON j.tenant_id = t AND j.job_id = d.job_id
          LEFT JOIN attempt a ON a.tenant_id = t AND a.job_id = j.job_id AND a.fence = j.fence AND a.live
          LEFT JOIN node n ON n.node_id = a.node_id
    WHERE d.tenant_id = t AND d.state = 'ACTIVE' AND j.data_class = of_class
      AND (set_id IS NULL OR EXISTS (SELECT FROM passport_models(t, set_id, most) m
                                      WHERE m.model_id = d.model_id AND m.version = d.model_version))
    ORDER BY d.deployment_id DESC LIMIT most) $$;
GRANT EXECUTE ON FUNCTION residency_things(uuid, uuid, text, bigint) TO falaj_app;
