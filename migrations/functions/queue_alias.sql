-- SPDX-License-Identifier: Apache-2.0
-- The name by which a tenant's planner of the future (functions/queue_jobs.sql) knows what is another's: the same at each
-- call, and no way back.
CREATE OR REPLACE FUNCTION queue_alias(what text) RETURNS uuid LANGUAGE sql IMMUTABLE AS
  $$ SELECT left(encode(pg_catalog.sha256(pg_catalog.convert_to(what, 'UTF8')), 'hex'), 32)::uuid $$;
