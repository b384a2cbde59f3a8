-- SPDX-License-Identifier: Apache-2.0
-- The law in force for a class of data in each zone where a data set lies: its rules for that class, or the zone alone where it
-- has none.
CREATE OR REPLACE FUNCTION passport_laws(t uuid, set_id uuid, class text, most bigint)
RETURNS TABLE (zone text, name text, country text, regulator text, law_version bigint, regime text,
               may_leave text, source_text text, valid_from timestamptz)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT z.code, z.name, z.country, z.regulator, z.law_version, r.regime, r.may_leave, r.source_text, r.valid_from
    FROM zone z LEFT JOIN zone_rule r ON r.zone = z.code AND r.version = z.law_version AND r.data_class = class
                                     AND r.valid_from <= now() AND (r.valid_to IS NULL OR now() < r.valid_to)
   WHERE z.code IN (SELECT p.zone FROM passport_places(t, set_id, most) p)
   ORDER BY z.code, r.n LIMIT most $$;
GRANT EXECUTE ON FUNCTION passport_laws(uuid, uuid, text, bigint) TO falaj_app;
