-- SPDX-License-Identifier: Apache-2.0
-- 0022 - drops job_submit_many as it was before projects and queues (0003); no release since 0010 calls it. N-1: nothing is read anew.
SET LOCAL ROLE falaj_owner;
DROP FUNCTION job_submit_many(uuid[], uuid[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[],
                              uuid[], text[], text[], bytea[], uuid[], bytea[], bigint[], text[], uuid[]);
