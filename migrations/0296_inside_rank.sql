-- SPDX-License-Identifier: Apache-2.0
-- 0296 - sessions in programs on the machines behind the first of a job on several, and to a program's own standard input.
-- N-1: additive; the release before asks for rank 0 alone, and never for the new kind.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job_session
  ADD COLUMN rank bigint NOT NULL DEFAULT 0 CHECK (rank BETWEEN 0 AND 63),
  DROP CONSTRAINT job_session_kind_check,
  ADD CONSTRAINT job_session_kind_check CHECK (kind IN ('exec', 'shell', 'forward', 'attach'));
COMMENT ON COLUMN job_session.rank IS 'In the program of which of the job''s machines; node_id is that machine';
