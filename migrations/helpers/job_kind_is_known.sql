-- SPDX-License-Identifier: Apache-2.0
-- The kinds that a job may have.
-- Printed from core/wire/job_type.def: tests/lint/gen.sh --write
CREATE OR REPLACE FUNCTION job_kind_is_known(kind text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RETURN kind IN ('noop', 'train', 'convert', 'optimise', 'batch', 'run', 'inspect', 'pull', 'serve'); END $$;
