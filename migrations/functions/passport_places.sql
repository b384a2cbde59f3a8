-- SPDX-License-Identifier: Apache-2.0
-- Where a data set's versions and their copies in other zones lie, each with the key that its data key is wrapped under now.
-- Newest version first, the original before its copies. Runs as its caller, behind row-level security.
CREATE OR REPLACE FUNCTION passport_places(t uuid, set_id uuid, most bigint)
RETURNS TABLE (version bigint, zone text, is_copy boolean, object_id uuid, sha256 text, size_bytes bigint, row_count bigint,
               created_at timestamptz, key_version bigint, key_state text, key_tier text, key_origin text, key_provider text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT v.version, o.zone, p.is_copy, o.object_id, encode(o.sha256, 'hex'), o.size_bytes, v.row_count, p.at,
         k.version, k.state, k.tier, k.origin, k.provider
    FROM dataset_version v
         CROSS JOIN LATERAL (SELECT v.object_id, false AS is_copy, v.created_at AS at
                             UNION ALL
                             SELECT x.to_object, true, x.at FROM transfer x
                              WHERE x.tenant_id = t AND x.dataset_id = set_id AND x.version = v.version) p
         JOIN object o ON o.tenant_id = t AND o.object_id = p.object_id AND o.state = 'COMMITTED'
         LEFT JOIN dek d ON d.tenant_id = t AND d.object_id = o.object_id AND d.wrapped IS NOT NULL
         LEFT JOIN tenant_key k ON k.tenant_id = t AND k.zone = d.zone AND k.version = d.key_version
   WHERE v.tenant_id = t AND v.dataset_id = set_id
   ORDER BY v.version DESC, p.is_copy, p.at LIMIT most $$;
GRANT EXECUTE ON FUNCTION passport_places(uuid, uuid, bigint) TO falaj_app;
