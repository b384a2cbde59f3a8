-- SPDX-License-Identifier: Apache-2.0
-- What ended attempts are charged to a budget since `starts`: the one rule of which charges count, for who sums up (below: the
-- oldest transaction that still runs, so what is summed up is final) and for who asks where the budget stands (below NULL: all
-- that is seen). Not anew: only what the last sum has not in it, so those of transactions from from_xid on, which all have
-- been inserted after from_ord; `at` is written so that no index on times is chosen, which would read the period. Anew: all of
-- the period; charges up to old_ord belong to epochs of the database before, in which numbers of transactions meant other ones.
-- Runs with its caller's rights.
CREATE OR REPLACE FUNCTION budget_charged(
  tid uuid, pid uuid, measure text, currency text, starts timestamptz, anew boolean, old_ord bigint, from_ord bigint,
  from_xid xid8, below xid8)
RETURNS numeric
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
#variable_conflict use_variable
BEGIN
  IF anew THEN
    RETURN (SELECT coalesce(sum(budget_pick(measure, currency, l.currency, l.money_micro, l.gpu_ms, l.energy_mj)), 0)
              FROM usage_debit l
             WHERE l.tenant_id = tid AND (pid IS NULL OR l.project_id = pid) AND l.at >= starts
               AND (below IS NULL OR l.ord <= old_ord OR l.xid < below));
  END IF;
  RETURN (SELECT coalesce(sum(budget_pick(measure, currency, l.currency, l.money_micro, l.gpu_ms, l.energy_mj)), 0)
            FROM usage_debit l
           WHERE l.tenant_id = tid AND (pid IS NULL OR l.project_id = pid) AND l.at + interval '0' >= starts
             AND l.ord > greatest(old_ord, from_ord) AND l.xid >= from_xid AND (below IS NULL OR l.xid < below));
END $$;
