-- SPDX-License-Identifier: Apache-2.0
-- 0210 - whether a machine starts programs of tenants. Agents of the release before do not say; they count as
-- machines that do, as they did. The functions that list machines get a column more: they are made anew from functions/.
-- N-1: additive; older programs name the columns that they read.
SET LOCAL ROLE falaj_owner;
ALTER TABLE node ADD COLUMN programs boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN node.programs IS 'It starts programs of tenants (jobs of kind run)';
DROP FUNCTION IF EXISTS machine_kinds(text, bigint);
DROP FUNCTION IF EXISTS queue_machines(bigint);
