-- SPDX-License-Identifier: Apache-2.0
-- The clauses of the laws in force about data of a class, in the zones whose rows the caller may see.
CREATE OR REPLACE FUNCTION residency_clauses(of_class text, most bigint)
RETURNS TABLE (zone text, regime text, source_text text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT r.zone, r.regime, r.source_text FROM zone_rule r JOIN zone z ON z.code = r.zone AND z.law_version = r.version
   WHERE z.code > '' AND r.data_class = of_class ORDER BY r.zone, r.n LIMIT most $$;
GRANT EXECUTE ON FUNCTION residency_clauses(text, bigint) TO falaj_app;
