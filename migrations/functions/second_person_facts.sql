-- SPDX-License-Identifier: Apache-2.0
-- What is known of a user as the second person beside another one: tenants/access/second_person.h judges. `what` tells how the
-- two come from one person: 'made' the other made this one (`step`: by which kind), 'maker' this one made the other, 'common' a
-- third made both; NULL: they do not. role_at: since when it holds one of the roles that may decide.
CREATE OR REPLACE FUNCTION second_person_facts(t uuid, other uuid, u uuid, roles text[])
RETURNS TABLE (kind text, is_known boolean, other_is_known boolean, what text, step text, account_at timestamptz,
    role_at timestamptz,
               link_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH mine AS MATERIALIZED (SELECT p.origin, p.what, p.is_known FROM person_origins(u) p),
          others AS MATERIALIZED (SELECT p.origin, p.what, p.is_known FROM person_origins(other) p)
  SELECT a.kind, (SELECT bool_and(m.is_known) FROM mine m), (SELECT bool_and(o.is_known) FROM others o),
         CASE WHEN EXISTS (SELECT FROM mine m WHERE m.origin = other) THEN 'made'
              WHEN EXISTS (SELECT FROM others o WHERE o.origin = u) THEN 'maker'
              WHEN EXISTS (SELECT FROM mine m JOIN others o ON o.origin = m.origin) THEN 'common' END,
         (SELECT min(m.what) FROM mine m WHERE m.origin = other), a.created_at,
         (SELECT min(b.created_at) FROM role_binding b WHERE b.tenant_id = t AND b.user_id = u AND b.role = ANY (roles)),
         (SELECT max(f.created_at) FROM federated_user f WHERE f.tenant_id = t AND f.user_id = u)
    FROM app_user a WHERE a.tenant_id = t AND a.user_id = u;
END $$;
SELECT falaj_system_function('second_person_facts', 'falaj_app');
