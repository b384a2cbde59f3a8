-- SPDX-License-Identifier: Apache-2.0
-- Whoever asks a job to stop: its live attempt says so from then on (attempt_notice), whatever program wrote it. No attempt is
-- made afterwards, for an admission wants a job that nobody asked to stop.
CREATE OR REPLACE FUNCTION job_cancel_told() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE attempt SET cancel_asked = NEW.cancel_requested
   WHERE attempt.tenant_id = NEW.tenant_id AND attempt.job_id = NEW.job_id AND attempt.fence = NEW.fence AND attempt.live;
  RETURN NULL;
END $$;
SELECT falaj_system_function('job_cancel_told', 'falaj_owner');     -- falaj_owner makes its trigger
CREATE OR REPLACE TRIGGER job_cancel_told AFTER UPDATE OF cancel_requested ON job FOR EACH ROW
  WHEN (NEW.cancel_requested <> OLD.cancel_requested) EXECUTE FUNCTION job_cancel_told();
