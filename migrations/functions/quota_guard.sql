-- SPDX-License-Identifier: Apache-2.0
-- Marks the quota rows of a tenant whose submissions or slots need more than the count in the row: rules, declared queues and running_jobs for slots,
-- stopping budgets and pending_jobs for jobs. Who has neither pays for neither (submit_guard, the planner's snapshot).
CREATE OR REPLACE FUNCTION quota_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE t uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
BEGIN
  UPDATE quota SET guarded = g.is
    FROM (SELECT EXISTS (SELECT FROM quota_rule r WHERE r.tenant_id = t) OR
                 EXISTS (SELECT FROM queue q WHERE q.tenant_id = t) OR
                 EXISTS (SELECT FROM quota q WHERE q.tenant_id = t AND q.resource = 'running_jobs') AS is) g
   WHERE quota.tenant_id = t AND quota.resource = 'slots' AND guarded <> g.is;
  UPDATE quota SET guarded = g.is
    FROM (SELECT EXISTS (SELECT FROM budget b WHERE b.tenant_id = t AND b.stop_percent IS NOT NULL) OR
                 EXISTS (SELECT FROM quota q WHERE q.tenant_id = t AND q.resource = 'pending_jobs') AS is) g
   WHERE quota.tenant_id = t AND quota.resource = 'jobs' AND guarded <> g.is;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER quota_rule_guard AFTER INSERT OR DELETE ON quota_rule FOR EACH ROW EXECUTE FUNCTION quota_guard();
CREATE OR REPLACE TRIGGER queue_guard AFTER INSERT OR DELETE ON queue FOR EACH ROW EXECUTE FUNCTION quota_guard();
CREATE OR REPLACE TRIGGER budget_guard AFTER INSERT OR DELETE OR UPDATE OF stop_percent ON budget FOR EACH ROW EXECUTE FUNCTION quota_guard();
CREATE OR REPLACE TRIGGER quota_limit_guard AFTER INSERT OR DELETE ON quota FOR EACH ROW EXECUTE FUNCTION quota_guard();
