// SPDX-License-Identifier: Apache-2.0
// life.tsx - a tenant is suspended, resumed, or ended: each with what it does to the tenant's people and work.
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Tenant } from './Tenants.tsx';

export function TenantActs({ tenant }: { tenant: Tenant }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const path = `/v1/tenants/${tenant.tenant_id!}`;
  const take = async (act: string, body: unknown, done: string): Promise<void> => {
    await change('POST', `${path}/${act}`, body);
    toast(done);
    await forget('/v1/tenants');
    await forget('/v1/approvals');
  };
  const reason = { name: 'reason', label: t('confirm.reason'), kind: 'area' as const, required: true, max: 1024 };
  return (
    <div className="acts">
      {can('tenant:suspend') && tenant.state === 'ACTIVE' && (
        <FormButton
          variant="secondary"
          label={t('tenants.suspend')}
          title={t('tenants.suspend')}
          lead={<p className="effect">{t('tenants.suspendEffect')}</p>}
          fields={[
            {
              name: 'running',
              label: t('tenants.running'),
              kind: 'select',
              options: [
                { value: 'finish', label: t('tenants.finish') },
                { value: 'stop', label: t('tenants.stop') },
              ],
            },
            reason,
          ]}
          onSubmit={(v) => take('suspend', { running: v['running'], reason: v['reason'] }, t('tenants.suspended'))}
        />
      )}
      {can('tenant:suspend') && tenant.state === 'SUSPENDED' && (
        <FormButton
          variant="secondary"
          label={t('tenants.resume')}
          title={t('tenants.resume')}
          lead={<p className="effect">{t('tenants.resumeEffect')}</p>}
          fields={[]}
          onSubmit={() => take('resume', undefined, t('tenants.resumed'))}
        />
      )}
      {can('tenant:delete') && (tenant.state === 'ACTIVE' || tenant.state === 'SUSPENDED') && (
        <TypedConfirm
          variant="secondary"
          reason
          label={t('tenants.delete')}
          title={t('tenants.delete')}
          name={tenant.name ?? ''}
          effect={t('tenants.deleteEffect')}
          onConfirm={(why) => take('delete', { reason: why }, t('zones.asked'))}
        />
      )}
      {can('tenant:delete') && tenant.state === 'DELETING' && (
        <FormButton
          variant="secondary"
          label={t('tenants.undelete')}
          title={t('tenants.undelete')}
          lead={<p className="effect">{t('tenants.undeleteEffect')}</p>}
          fields={[]}
          onSubmit={() => take('undelete', undefined, t('tenants.undeleted'))}
        />
      )}
    </div>
  );
}
