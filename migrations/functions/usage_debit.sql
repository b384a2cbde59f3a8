-- SPDX-License-Identifier: Apache-2.0
-- What ended attempts are charged, each once: the debit of who used. The credit of the zone is the same row with the other sign,
-- so that the two sum to zero by construction. Runs with its reader's rights.
CREATE OR REPLACE VIEW usage_debit WITH (security_invoker = true) AS
  SELECT tenant_id, attempt_id, project_id, queue, zone, pool, flavor, slot_ms, gpu_ms, energy_mj, money_micro, currency,
         ended_at AS at, xid, ord
    FROM usage_record WHERE queue IS NOT NULL
  UNION ALL
  SELECT tenant_id, transaction_id, project_id, queue, zone, pool, flavor, slot_ms, gpu_ms, energy_mj, money_micro, currency,
         at, xid, ord
    FROM ledger_entry WHERE line = 1;
GRANT SELECT ON usage_debit TO falaj_app, falaj_scheduler, falaj_system;
