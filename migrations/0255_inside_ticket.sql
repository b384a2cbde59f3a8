-- SPDX-License-Identifier: Apache-2.0
-- 0255 - a session's stream is opened once, wherever: by the first who comes, and from a browser with the ticket that the
-- answer gave.
-- N-1: additive. What the release before asked for has no ticket and opens from no browser; what it opens is not marked.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job_session
  ADD COLUMN ticket_sha256 text CHECK (ticket_sha256 ~ '^[0-9a-f]{64}$'),
  ADD COLUMN entered_at timestamptz;                                -- when the person's stream was opened
GRANT UPDATE (entered_at) ON job_session TO falaj_app;
