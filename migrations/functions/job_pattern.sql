-- SPDX-License-Identifier: Apache-2.0
-- A LIKE pattern that finds the text q anywhere, with its own % and _ taken literally.
CREATE OR REPLACE FUNCTION job_pattern(q text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS
  $$ SELECT '%' || replace(replace(replace(q, '\', '\\'), '%', '\%'), '_', '\_') || '%' $$;
