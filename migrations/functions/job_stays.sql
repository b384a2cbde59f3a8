-- SPDX-License-Identifier: Apache-2.0
-- Runs until it is told to stop: no time and no number of attempts ends it.
-- Printed from core/wire/job_type.def: tests/lint/gen.sh --write
CREATE OR REPLACE FUNCTION job_stays(kind text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT kind IN ('serve') $$;
