-- SPDX-License-Identifier: Apache-2.0
-- Of these persons, who were erased once, those whom this database has back: a backup from before was restored. What shows it
-- is neither their key (destroyed) nor their name (erased-<id>). Who is not here, or whose tenant is gone, is not told.
CREATE OR REPLACE FUNCTION erasures_undone(tenants uuid[], users uuid[]) RETURNS TABLE (tenant_id uuid, user_id uuid)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT u.tenant_id, u.user_id FROM unnest(tenants, users) AS o(t, p)
    JOIN app_user u ON u.tenant_id = o.t AND u.user_id = o.p
    LEFT JOIN audit_subject_key k ON k.tenant_id = u.tenant_id AND k.subject_id = u.user_id
   WHERE k.erased_at IS NULL AND (k.wrapped IS NOT NULL OR u.name <> 'erased-' || replace(u.user_id::text, '-', ''))
$$;
SELECT falaj_system_function('erasures_undone', 'falaj_app');

-- Who is erased here, behind that place, of all tenants: ids and times.
CREATE OR REPLACE FUNCTION erasures_after(after_tenant uuid, after_user uuid, most bigint)
RETURNS TABLE (tenant_id uuid, user_id uuid, by uuid, erased_at timestamptz)
LANGUAGE sql SECURITY DEFINER STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT k.tenant_id, k.subject_id, coalesce(k.erased_by, '00000000-0000-0000-0000-000000000000'), k.erased_at
    FROM audit_subject_key k
   WHERE k.erased_at IS NOT NULL AND (k.tenant_id, k.subject_id) > (after_tenant, after_user)
   ORDER BY k.tenant_id, k.subject_id LIMIT most
$$;
SELECT falaj_system_function('erasures_after', 'falaj_app');
