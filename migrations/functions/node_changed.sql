-- SPDX-License-Identifier: Apache-2.0
-- A machine of which a planner would see something else has a new version (ADR 0108). A heartbeat is none.
CREATE OR REPLACE FUNCTION node_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  NEW.changed_xid := pg_current_xact_id();
  NEW.change_no := OLD.change_no + 1;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER node_changed BEFORE UPDATE ON node FOR EACH ROW
  WHEN ((OLD.zone, OLD.pool, OLD.flavor, OLD.slots, OLD.gpus, OLD.cpu_milli, OLD.memory_bytes, OLD.gpu_model, OLD.gpu_shared,
         OLD.programs, OLD.gangs, OLD.gang_programs, OLD.engines, OLD.state, OLD.version, OLD.backend)
     IS DISTINCT FROM
        (NEW.zone, NEW.pool, NEW.flavor, NEW.slots, NEW.gpus, NEW.cpu_milli, NEW.memory_bytes, NEW.gpu_model, NEW.gpu_shared,
         NEW.programs, NEW.gangs, NEW.gang_programs, NEW.engines, NEW.state, NEW.version, NEW.backend))
  EXECUTE FUNCTION node_changed();
