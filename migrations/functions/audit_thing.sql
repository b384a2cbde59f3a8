-- SPDX-License-Identifier: Apache-2.0
-- What the audit log names by id, with the names that people know: things of today, and those deleted. Whoever may read
-- a log may know its things by name; people's names are not among them (audit/actor_name.h). Runs with its reader's rights.
-- What has no id of its own (zones, tables that were changed from outside) is named by its name: prefix '', no thing_id.
-- display_name, display_name_ar: what it is called for people; '' where it has no such name.
-- A condition on tenant_id and thing_id uses the keys of all; one on kind leaves out the tables of the others.
CREATE OR REPLACE VIEW audit_thing WITH (security_invoker = true) AS
  SELECT tenant_id, 'dataset' AS kind, 'dst' AS prefix, dataset_id AS thing_id, name, false AS gone, display_name, display_name_ar
    FROM dataset
  UNION ALL SELECT tenant_id, 'model', 'mdl', model_id, name, false, display_name, display_name_ar FROM model
  UNION ALL SELECT tenant_id, 'deployment', 'dpl', deployment_id, name, false, '', '' FROM deployment WHERE state = 'ACTIVE'
  UNION ALL SELECT tenant_id, 'deployment', 'dpl', deployment_id, name, true, '', '' FROM deployment WHERE state <> 'ACTIVE'
  UNION ALL SELECT tenant_id, 'project', 'prj', project_id, name, false, display_name, display_name_ar FROM project
  UNION ALL SELECT tenant_id, 'group', 'grp', group_id, name, false, '', '' FROM user_group
  UNION ALL SELECT tenant_id, 'job', 'job', job_id, name, false, '', '' FROM job
  UNION ALL SELECT '00000000-0000-0000-0000-000000000000', 'tenant', 'tnt', tenant_id, name, false, display_name, display_name_ar
              FROM tenant
  UNION ALL SELECT '00000000-0000-0000-0000-000000000000', 'node', 'nod', node_id, name, false, '', '' FROM node
  UNION ALL SELECT tenant_id, kind, CASE kind WHEN 'dataset' THEN 'dst' WHEN 'model' THEN 'mdl' ELSE 'grp' END,
                   thing_id, name, true, display_name, display_name_ar
              FROM audit_gone
  UNION ALL SELECT t.tenant_id, 'zone', '', NULL, z.code, false, '', '' FROM tenant t CROSS JOIN zone z
  UNION ALL SELECT '00000000-0000-0000-0000-000000000000', 'zone', '', NULL, code, false, '', '' FROM zone
  UNION ALL SELECT '00000000-0000-0000-0000-000000000000', 'table', '', NULL, relname, false, '', '' FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind = 'r';
GRANT SELECT ON audit_thing TO falaj_app, falaj_system;
