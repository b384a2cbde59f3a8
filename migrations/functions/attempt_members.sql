-- SPDX-License-Identifier: Apache-2.0
-- The members of an attempt go with it, whoever moves it: rank 0 is where the attempt is, and all of them end with it.
-- An attempt on one machine runs nothing of this.
CREATE OR REPLACE FUNCTION attempt_members() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NEW.live THEN
    UPDATE attempt_member SET state = NEW.state, started_at = NEW.started_at
     WHERE attempt_member.tenant_id = NEW.tenant_id AND attempt_member.attempt_id = NEW.attempt_id AND rank = 0;
  ELSE
    UPDATE attempt_member SET state = NEW.state, live = false, finished_at = NEW.finished_at
     WHERE attempt_member.tenant_id = NEW.tenant_id AND attempt_member.attempt_id = NEW.attempt_id AND attempt_member.live;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER attempt_members AFTER UPDATE ON attempt FOR EACH ROW
  WHEN (NEW.nodes > 1 AND NEW.state <> OLD.state) EXECUTE FUNCTION attempt_members();
