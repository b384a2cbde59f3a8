-- SPDX-License-Identifier: Apache-2.0
-- The shape of jobs that are inserted without one, or whose wishes change. A trigger before the update would make the server lock
-- each row of every update first (job_edge), so it is after it and writes the row once more: no program makes such a change.
CREATE OR REPLACE FUNCTION job_shape_keep() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE number bigint := job_shape(NEW.project_id, NEW.queue, NEW.kind, NEW.data_class, NEW.zone, NEW.pool, NEW.slots, NEW.gpus,
                                   NEW.class, NEW.cpu_milli, NEW.memory_bytes, NEW.gpu_milli, NEW.gpu_models);
BEGIN
  IF NEW.nodes > 1 THEN
    number := hashint8extended(number, NEW.nodes);
  END IF;
  -- Negative: else one machine up to four would have the shape of four machines.
  IF NEW.nodes_max > NEW.nodes THEN
    number := hashint8extended(number, -NEW.nodes_max);
  END IF;
  IF NEW.engine <> '' THEN
    number := hashtextextended(NEW.engine, number);
  END IF;
  IF TG_OP = 'INSERT' THEN
    NEW.shape := number;
    RETURN NEW;
  END IF;
  UPDATE job SET shape = number WHERE job.tenant_id = NEW.tenant_id AND job.job_id = NEW.job_id AND job.shape <> number;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER job_shape BEFORE INSERT ON job FOR EACH ROW WHEN (NEW.shape = 0) EXECUTE FUNCTION job_shape_keep();
CREATE OR REPLACE TRIGGER job_reshape AFTER UPDATE OF project_id, queue, kind, data_class, zone, pool, slots, gpus, class,
  cpu_milli, memory_bytes, gpu_milli, gpu_models, nodes, nodes_max, engine ON job FOR EACH ROW EXECUTE FUNCTION job_shape_keep();
ALTER TABLE job ENABLE ALWAYS TRIGGER job_shape, ENABLE ALWAYS TRIGGER job_reshape;
UPDATE job SET shape = job_shape(project_id, queue, kind, data_class, zone, pool, slots, gpus, class, cpu_milli, memory_bytes,
                                 gpu_milli, gpu_models) WHERE queued AND shape = 0;
