-- SPDX-License-Identifier: Apache-2.0
-- What became of a waiting job is noted for the planner, which keeps waiting jobs (ADR 0133). Its own admissions are not: it
-- knows them. After the update, because a trigger before it makes the server lock each row first (job_edge).
CREATE OR REPLACE FUNCTION job_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO job_change (changed_xid, of_tenant, of_job) VALUES (pg_current_xact_id(), OLD.tenant_id, OLD.job_id);
  RETURN NULL;
END $$;
SELECT falaj_system_function('job_changed', 'falaj_app');
CREATE OR REPLACE TRIGGER job_changed AFTER UPDATE OF queued, priority, shape, not_before, cancel_requested, max_runtime_s ON job
  FOR EACH ROW WHEN ((OLD.queued OR NEW.queued) AND NOT (OLD.queued AND NEW.state = 'ADMITTED') AND
    (OLD.queued, OLD.priority, OLD.shape, OLD.not_before, OLD.cancel_requested, OLD.max_runtime_s, OLD.version) IS DISTINCT FROM
    (NEW.queued, NEW.priority, NEW.shape, NEW.not_before, NEW.cancel_requested, NEW.max_runtime_s, NEW.version))
  EXECUTE FUNCTION job_changed();
CREATE OR REPLACE TRIGGER job_removed AFTER DELETE ON job FOR EACH ROW WHEN (OLD.queued) EXECUTE FUNCTION job_changed();
