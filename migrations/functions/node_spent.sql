-- SPDX-License-Identifier: Apache-2.0
-- A scheduler of the release before says by words alone that a lent machine has had its lease (0304). Words of anybody else mean
-- nothing. To be dropped by the release after this one.
CREATE OR REPLACE FUNCTION node_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_spent := NEW.reason <> '';
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER node_spent BEFORE UPDATE OF reason ON node FOR EACH ROW
  WHEN (session_user = 'falaj_scheduler'::name
        AND (NEW.is_drained AND NEW.reason = 'lent for one lease'
             OR NEW.state = 'LOST' AND NOT NEW.is_drained AND NEW.reason = ''))
  EXECUTE FUNCTION node_spent();
