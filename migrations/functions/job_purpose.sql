-- SPDX-License-Identifier: Apache-2.0
-- What a job's data is used for, in the words of policies.
CREATE OR REPLACE FUNCTION job_purpose(kind text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE kind WHEN 'train' THEN 'training' WHEN 'serve' THEN 'serving' ELSE 'compute' END $$;
