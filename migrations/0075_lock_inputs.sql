-- SPDX-License-Identifier: Apache-2.0
-- job_submit_many locks the objects that a job reads (FOR KEY SHARE) against their deletion, and PostgreSQL wants of whoever
-- locks a row a right to change it. No function of falaj_system changes this column.
SET LOCAL ROLE falaj_owner;
GRANT UPDATE (object_id) ON object TO falaj_system;
