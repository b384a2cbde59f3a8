-- SPDX-License-Identifier: Apache-2.0
-- 0183 - a legal clock remembers what was told of it, so that each of its terms is told of once, however long the program that
-- tells was away; and deliveries are listed by their rule.
-- N-1: additive; the release before tells of no clock and leaves the column alone.
SET LOCAL ROLE falaj_owner;
ALTER TABLE legal_clock ADD COLUMN told smallint NOT NULL DEFAULT 0 CHECK (told BETWEEN 0 AND 2);
COMMENT ON COLUMN legal_clock.told IS '0 nothing, 1 that it is due soon, 2 that it is overdue; an extension begins anew';
CREATE INDEX legal_clock_untold ON legal_clock (tenant_id, due_at) WHERE closed_at IS NULL AND told < 2;
GRANT UPDATE (told) ON legal_clock TO falaj_app;
GRANT SELECT, UPDATE (told) ON legal_clock TO falaj_scheduler;
CREATE INDEX notice_of_rule ON notice_delivery (tenant_id, notification_id, delivery_id);
