-- SPDX-License-Identifier: Apache-2.0
-- What a job's data is used for, in the words of policies.
-- Printed from core/wire/job_type.def: tests/lint/gen.sh --write
CREATE OR REPLACE FUNCTION job_purpose(kind text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE kind
     WHEN 'noop' THEN 'compute'
     WHEN 'train' THEN 'training'
     WHEN 'convert' THEN 'compute'
     WHEN 'optimise' THEN 'compute'
     WHEN 'batch' THEN 'compute'
     WHEN 'run' THEN 'compute'
     WHEN 'inspect' THEN 'compute'
     WHEN 'pull' THEN 'compute'
     WHEN 'serve' THEN 'serving' ELSE 'unknown' END $$;
