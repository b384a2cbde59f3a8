-- SPDX-License-Identifier: Apache-2.0
-- What a job may be and never changes. Not CHECKs, which each of the statements that move a job on would parse and ask again: a
-- trigger of these columns is passed by. Fires always, whatever session_replication_role says.
CREATE OR REPLACE FUNCTION job_fixed_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a job may not be so: name %, kind %, queue %, slots %, gpus %, priority %, max_attempts %',
    left(NEW.name, 200), left(NEW.kind, 64), left(NEW.queue, 64), NEW.slots, NEW.gpus, NEW.priority, NEW.max_attempts
    USING ERRCODE = 'check_violation', CONSTRAINT = 'job_fixed', TABLE = 'job';
END $$;
CREATE OR REPLACE TRIGGER job_fixed AFTER INSERT OR UPDATE OF name, kind, queue, slots, gpus, priority, max_attempts ON job
  FOR EACH ROW WHEN (NOT (
    length(NEW.name) BETWEEN 1 AND 128 AND NEW.slots BETWEEN 1 AND 4096 AND NEW.gpus BETWEEN 0 AND 64 AND
    NEW.priority BETWEEN -1000 AND 1000 AND NEW.max_attempts BETWEEN 1 AND 100 AND job_kind_is_known(NEW.kind) AND
    (NEW.queue = 'default' OR NEW.queue ~ '^[a-z0-9][a-z0-9-]{0,62}$')))
  EXECUTE FUNCTION job_fixed_refuse();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_fixed;
