-- SPDX-License-Identifier: Apache-2.0
-- 0276 - the energy that each machine of an attempt on several has taken so far; the attempt's end adds them up (ADR 0141).
-- N-1: additive; machines of the release before say nothing of it while they run, and such attempts are charged by the watts.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt_member ADD COLUMN cpu_mj bigint CHECK (cpu_mj >= 0), ADD COLUMN gpu_mj bigint CHECK (gpu_mj >= 0);
COMMENT ON COLUMN attempt_member.cpu_mj IS 'Millijoules of its processors as of its last word; NULL: not measured, and of
  rank 0, whose are in the attempt';
COMMENT ON COLUMN attempt_member.gpu_mj IS 'Millijoules of its GPUs as of its last word; NULL: not measured, or it has none';
