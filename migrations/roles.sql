-- SPDX-License-Identifier: Apache-2.0
-- roles.sql - the database roles of Falaj. Run once per cluster by a superuser (falaj dev does it); idempotent.
-- Nobody who serves requests owns a table, is a superuser or bypasses row-level security. Passwords are set separately.
--
--   falaj_owner       owns every table; no login
--   falaj_system      owns the SECURITY DEFINER functions that must see more than one tenant; no login
--   falaj_migrate     login of falaj-migrate; becomes falaj_owner
--   falaj_app         login of falaj-api for people and programs; sees one tenant per transaction
--   falaj_worker_api  login of falaj-api for worker routes; sees leases of every tenant, no content
--   falaj_scheduler   login of falaj-scheduler
--   falaj_sequencer   login of the audit sequencer
--   falaj_retention   login that drops audit bodies past their time, through one function; sees no table
--   falaj_backup      login of falaj-backup, which serves nobody: reads every row, writes none
DO $$
DECLARE r text;
BEGIN
  FOREACH r IN ARRAY ARRAY['falaj_owner', 'falaj_system'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', r);
    END IF;
  END LOOP;
  FOREACH r IN ARRAY ARRAY['falaj_migrate', 'falaj_app', 'falaj_worker_api', 'falaj_scheduler', 'falaj_sequencer', 'falaj_retention', 'falaj_backup'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
      EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', r);
    END IF;
    -- Statements are logged as $1, never with what was given for it: that tells of people, whom nobody erases from a log.
    EXECUTE format('ALTER ROLE %I SET log_parameter_max_length = 0', r);
    EXECUTE format('ALTER ROLE %I SET log_parameter_max_length_on_error = 0', r);
    EXECUTE format('ALTER ROLE %I SET log_error_verbosity = terse', r);     -- DETAIL has the values of a key that is taken
  END LOOP;
END $$;
ALTER ROLE falaj_backup BYPASSRLS;
ALTER ROLE falaj_backup SET default_transaction_read_only = on;
GRANT pg_read_all_data TO falaj_backup;
GRANT falaj_owner TO falaj_migrate;
GRANT falaj_system TO falaj_owner;
