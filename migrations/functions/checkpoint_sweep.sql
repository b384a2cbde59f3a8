-- SPDX-License-Identifier: Apache-2.0
-- The policy of checkpoints: none outlives its job, and none that an ended attempt left half written stays. Of at most `most`
-- jobs at
-- once. Returns the objects, whose blobs the caller removes after the commit.
CREATE OR REPLACE FUNCTION checkpoint_sweep(most bigint) RETURNS TABLE (tenant_id uuid, object_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  due record;
BEGIN
  FOR due IN SELECT j.tenant_id, j.job_id, j.fence, j.finished_at IS NOT NULL AS is_over FROM job j
              WHERE (j.tenant_id, j.job_id) IN (SELECT k.tenant_id, k.job_id FROM checkpoint k)
                AND (j.finished_at IS NOT NULL OR EXISTS (
                      SELECT FROM checkpoint k WHERE k.tenant_id = j.tenant_id AND k.job_id = j.job_id AND k.whole_at IS NULL
                         AND k.fence < j.fence))
              ORDER BY j.tenant_id, j.job_id LIMIT most FOR NO KEY UPDATE OF j SKIP LOCKED LOOP
    RETURN QUERY SELECT d.tenant_id, d.object_id
                   FROM checkpoint_drop(due.tenant_id, due.job_id, CASE WHEN due.is_over THEN 0 ELSE 1000 END,
                                        CASE WHEN due.is_over THEN -1 ELSE due.fence END) d;
  END LOOP;
END $$;
SELECT falaj_system_function('checkpoint_sweep', 'falaj_worker_api');
