-- SPDX-License-Identifier: Apache-2.0
-- The values of a job that lists filter by and that never change, as a page of jobs keeps them; of a filter: those that are
-- given.
CREATE OR REPLACE FUNCTION job_facets(kind text, project uuid, creator uuid, zone text, pool text) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS
  $$ SELECT array_remove(ARRAY['kind=' || kind, 'project=' || project, 'creator=' || creator, 'zone=' || zone,
                               'pool=' || pool], NULL) $$;
