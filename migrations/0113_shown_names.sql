-- SPDX-License-Identifier: Apache-2.0
-- 0113 - names for people in English and Arabic, of tenants, projects, data sets and models (tenants/home/shown_name.h); of what
-- was deleted too. N-1: additive; the release before finds by the name in English alone, by a slower plan.
SET LOCAL ROLE falaj_owner;

ALTER TABLE tenant ADD COLUMN display_name_ar text NOT NULL DEFAULT '' CHECK (length(display_name_ar) <= 128);
ALTER TABLE project ADD COLUMN display_name_ar text NOT NULL DEFAULT '' CHECK (length(display_name_ar) <= 128);
ALTER TABLE dataset ADD COLUMN display_name text NOT NULL DEFAULT '' CHECK (length(display_name) <= 128),
  ADD COLUMN display_name_ar text NOT NULL DEFAULT '' CHECK (length(display_name_ar) <= 128);
ALTER TABLE model ADD COLUMN display_name text NOT NULL DEFAULT '' CHECK (length(display_name) <= 128),
  ADD COLUMN display_name_ar text NOT NULL DEFAULT '' CHECK (length(display_name_ar) <= 128);
ALTER TABLE audit_gone ADD COLUMN display_name text NOT NULL DEFAULT '', ADD COLUMN display_name_ar text NOT NULL DEFAULT '';

DROP INDEX tenant_search, project_search, dataset_search, model_search;
CREATE INDEX tenant_search ON tenant USING gin ((name || ' ' || display_name || ' ' || display_name_ar) gin_trgm_ops);
CREATE INDEX project_search ON project USING gin
  (tenant_id, (name || ' ' || display_name || ' ' || display_name_ar) gin_trgm_ops);
CREATE INDEX dataset_search ON dataset USING gin
  (tenant_id, (name || ' ' || display_name || ' ' || display_name_ar) gin_trgm_ops);
CREATE INDEX model_search ON model USING gin (tenant_id, (name || ' ' || display_name || ' ' || display_name_ar) gin_trgm_ops);

-- Comes back with the Arabic name as a parameter that may be left out (functions/tenant_create.sql): two of one name would
-- be ambiguous.
DROP FUNCTION tenant_create(uuid, text, text, text, text[], uuid, text, uuid, text, uuid, uuid, bytea, text, timestamptz, bytea,
                            bigint, text, uuid, bytea);
