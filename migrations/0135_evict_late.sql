-- SPDX-License-Identifier: Apache-2.0
-- 0135 - attempts that were told to make room are found by when they should have ended: one that still runs then is fenced.
-- N-1: an index; an older scheduler does not ask it.
SET LOCAL ROLE falaj_owner;
CREATE INDEX attempt_evict ON attempt (evict_until) WHERE live AND evict_until IS NOT NULL;
