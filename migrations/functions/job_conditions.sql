-- SPDX-License-Identifier: Apache-2.0
-- The conditions of the filters that are given, over the parameters $1 to $11 of the two functions below; '' when there is none.
CREATE OR REPLACE FUNCTION job_conditions(below uuid, floor uuid, kind text, project uuid, creator uuid, zone text, pool text, q text,
                               after timestamptz, before timestamptz, visible uuid[]) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT CASE WHEN kind IS NULL THEN '' ELSE ' AND kind = $4' END
      || CASE WHEN project IS NULL THEN '' ELSE ' AND project_id = $5' END
      || CASE WHEN creator IS NULL THEN '' ELSE ' AND created_by = $6' END
      || CASE WHEN zone IS NULL THEN '' ELSE ' AND zone = $7' END
      || CASE WHEN pool IS NULL THEN '' ELSE ' AND pool = $8' END
      || CASE WHEN q IS NULL THEN '' ELSE ' AND name ILIKE $9' END
      || CASE WHEN visible IS NULL THEN '' ELSE ' AND project_id = ANY ($12)' END
      || CASE WHEN below IS NULL THEN '' ELSE ' AND job_id < $2' END
      || CASE WHEN floor IS NULL THEN '' ELSE ' AND job_id >= $3' END
      || CASE WHEN after IS NULL THEN '' ELSE ' AND submitted_at >= $10' END
      || CASE WHEN before IS NULL THEN '' ELSE ' AND submitted_at < $11' END $$;
