-- SPDX-License-Identifier: Apache-2.0
-- What writers have counted so far, of many tenants; rows: [{tenant_id, deployment_id, minute, writer_id, requests, errors,
-- refused, classes, tokens, first_classes, gap_classes}]. Minutes before `oldest` go, at most 1,000 in a call. A row of a
-- deployment that is not there, or not that tenant's, is passed over; one from a release that counts no texts has none.
CREATE OR REPLACE FUNCTION deployment_minutes_put(rows jsonb, oldest bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  DELETE FROM deployment_minute
   WHERE ctid = ANY (ARRAY(SELECT m.ctid FROM deployment_minute m WHERE m.minute < oldest LIMIT 1000 FOR UPDATE SKIP LOCKED));
  INSERT INTO deployment_minute AS m (tenant_id, deployment_id, minute, writer_id, requests, errors, refused, classes,
                                      tokens, first_classes, gap_classes)
  SELECT r.tenant_id, r.deployment_id, r.minute, r.writer_id, r.requests, r.errors, r.refused, r.classes,
         coalesce(r.tokens, 0), coalesce(r.first_classes, '{}'), coalesce(r.gap_classes, '{}')
    FROM jsonb_to_recordset(rows) AS r(tenant_id uuid, deployment_id uuid, minute bigint, writer_id uuid, requests bigint,
                                       errors bigint, refused bigint, classes bigint[], tokens bigint,
                                       first_classes bigint[], gap_classes bigint[])
    JOIN deployment d USING (tenant_id, deployment_id)
   WHERE r.minute >= oldest
  ON CONFLICT (tenant_id, deployment_id, minute, writer_id)
  DO UPDATE SET requests = excluded.requests, errors = excluded.errors, refused = excluded.refused, classes = excluded.classes,
                tokens = excluded.tokens, first_classes = excluded.first_classes, gap_classes = excluded.gap_classes
   WHERE m.requests < excluded.requests
$$;
SELECT falaj_system_function('deployment_minutes_put', 'falaj_app');
