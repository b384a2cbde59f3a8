-- SPDX-License-Identifier: Apache-2.0
-- Who stands by and has not read a note before it was removed must know that (ADR 0151). A number beyond the newest
-- transaction is of the database that a dump was taken from, and says nothing here.
CREATE OR REPLACE FUNCTION changes_swept() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE change_swept c SET upto = s.changed_xid
    FROM (SELECT changed_xid FROM swept ORDER BY changed_xid DESC LIMIT 1) s
   WHERE c.id = 1 AND (c.upto < s.changed_xid OR c.upto >= pg_snapshot_xmax(pg_current_snapshot()));
  RETURN NULL;
END $$;
SELECT falaj_system_function('changes_swept', 'falaj_app');
CREATE OR REPLACE TRIGGER changes_swept AFTER DELETE ON job_change REFERENCING OLD TABLE AS swept
  FOR EACH STATEMENT EXECUTE FUNCTION changes_swept();
CREATE OR REPLACE TRIGGER changes_swept AFTER DELETE ON plan_change REFERENCING OLD TABLE AS swept
  FOR EACH STATEMENT EXECUTE FUNCTION changes_swept();
