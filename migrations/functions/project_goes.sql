-- SPDX-License-Identifier: Apache-2.0
-- Whether something new may be of a project; NULL: of the tenant as a whole, which it may.
CREATE OR REPLACE FUNCTION project_goes(t uuid, project uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT project IS NULL OR EXISTS (SELECT FROM project p WHERE p.tenant_id = t AND p.project_id = project_goes.project
                                       AND p.state = 'ACTIVE') $$;
SELECT falaj_system_function('project_goes', 'falaj_scheduler');
