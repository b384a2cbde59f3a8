-- SPDX-License-Identifier: Apache-2.0
-- The user itself, who gave it its account, roles, links and tokens, who gave those people theirs, and so on. `what` is the kind
-- of the first step; is_known is false for an account of which nobody knows who made it. Who is vouched for comes from nobody but
-- what was given after that. An id of a user belongs to one tenant only, so givers are found wherever they are.
CREATE OR REPLACE FUNCTION person_origins(u uuid) RETURNS TABLE (origin uuid, what text, is_known boolean)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  WITH RECURSIVE o(user_id, what) AS (
    SELECT u, 'self'
    UNION
    SELECT p.maker, CASE o.what WHEN 'self' THEN p.what ELSE o.what END
      FROM o JOIN app_user a ON a.user_id = o.user_id
      JOIN person_origin p ON p.tenant_id = a.tenant_id AND p.user_id =
          a.user_id AND (a.vouched_at IS NULL OR p.at > a.vouched_at)
  )
  SELECT o.user_id, o.what, coalesce(a.created_by IS NOT NULL OR a.vouched_at IS NOT NULL, false)
    FROM o LEFT JOIN app_user a ON a.user_id = o.user_id
$$;
SELECT falaj_system_function('person_origins');
