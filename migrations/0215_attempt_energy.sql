-- SPDX-License-Identifier: Apache-2.0
-- 0215 - the energy that an attempt took, where its machine measures it. The ledger takes it in place of the price book's watts.
-- N-1: additive; an older program ends attempts without it, and charges by the watts as before.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt ADD COLUMN cpu_mj bigint CHECK (cpu_mj >= 0), ADD COLUMN gpu_mj bigint CHECK (gpu_mj >= 0);
COMMENT ON COLUMN attempt.cpu_mj IS 'Millijoules of its processors, measured (workers/agent/energy.h); NULL: not measured';
COMMENT ON COLUMN attempt.gpu_mj IS 'Millijoules of its GPUs, measured; NULL: not measured, or it had none';
