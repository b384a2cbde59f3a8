-- SPDX-License-Identifier: Apache-2.0
-- 0099 - a running attempt can be told to make room: until when, for which job, and why, in words for the job's own people.
-- N-1: additive; an older scheduler tells nobody, and an older machine hears it with its next report only if it knows the word.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt
  ADD COLUMN evict_until timestamptz, ADD COLUMN evict_for uuid, ADD COLUMN evict_why text NOT NULL DEFAULT ''
    CHECK (length(evict_why) <= 200),
  ADD CHECK ((evict_until IS NULL) = (evict_for IS NULL));
COMMENT ON COLUMN attempt.evict_until IS
  'It was told to make room and is to have ended by then; it counts as running until it has';
GRANT SELECT ON checkpoint TO falaj_scheduler;
