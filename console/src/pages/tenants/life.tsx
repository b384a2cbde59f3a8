// SPDX-License-Identifier: Apache-2.0
// life.tsx - a tenant is suspended, resumed, or ended: each with what it does to the tenant's people and work.
import { useTranslation } from 'react-i18next';
import { SUSPEND_IN_RUNNING } from '../../api/gen/enums.ts';
import { bodyOf, formFields } from '../../ui/form.tsx';
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
  const path = `/v1/tenants/${tenant.tenant_id!}` as const;
  const take = async (act: Promise<unknown>, done: string): Promise<void> => {
    await act;
    toast(done);
    await forget('/v1/tenants');
    await forget('/v1/approvals');
  };
  const pause = formFields(
    {
      name: 'running',
      label: t('tenants.running'),
      kind: 'select',
      options: SUSPEND_IN_RUNNING.map((x) => ({ value: x, label: t(`tenants.${x}`) })),
    },
    { name: 'reason', label: t('confirm.reason'), kind: 'area', required: true, max: 1024 },
  );
  return (
    <div className="acts">
      {can('tenant:suspend') && tenant.state === 'ACTIVE' && (
        <FormButton
          variant="secondary"
          label={t('tenants.suspend')}
          title={t('tenants.suspend')}
          lead={<p className="effect">{t('tenants.suspendEffect')}</p>}
          fields={pause}
          onSubmit={(v) => take(change('POST', `${path}/suspend`, bodyOf(pause, v)), t('tenants.suspended'))}
        />
      )}
      {can('tenant:suspend') && tenant.state === 'SUSPENDED' && (
        <FormButton
          variant="secondary"
          label={t('tenants.resume')}
          title={t('tenants.resume')}
          lead={<p className="effect">{t('tenants.resumeEffect')}</p>}
          fields={[]}
          onSubmit={() => take(change('POST', `${path}/resume`), t('tenants.resumed'))}
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
          onConfirm={(why) => take(change('POST', `${path}/delete`, { reason: why }), t('zones.asked'))}
        />
      )}
      {can('tenant:delete') && tenant.state === 'DELETING' && (
        <FormButton
          variant="secondary"
          label={t('tenants.undelete')}
          title={t('tenants.undelete')}
          lead={<p className="effect">{t('tenants.undeleteEffect')}</p>}
          fields={[]}
          onSubmit={() => take(change('POST', `${path}/undelete`), t('tenants.undeleted'))}
        />
      )}
    </div>
  );
}
