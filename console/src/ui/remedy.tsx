// SPDX-License-Identifier: Apache-2.0
// remedy.tsx - where data may not be somewhere: what is missing, who may ask for it, who approves it, and where that is done.
import { useTranslation } from 'react-i18next';
import type { RemedyOf } from '../api/problem.ts';
import { useSession } from '../shell/session.tsx';
import { To } from './bits.tsx';

const named = (values: Record<string, string | undefined>): string =>
  new URLSearchParams(Object.entries(values).filter((e): e is [string, string] => Boolean(e[1]))).toString();

export function Remedy({ of }: { of: RemedyOf }) {
  const { t, i18n } = useTranslation();
  const { me, can } = useSession();
  if (!i18n.exists(`remedy.${of.rule}`)) return null;
  const join = new Intl.ListFormat(i18n.language, { type: 'disjunction' });
  const people = (roles: readonly string[]): string => join.format(roles.map((r) => t(`role.${r}`)));
  const about = { class: of.data_class, from: of.from ?? me.home_zone, to: of.zone };
  const where: Record<string, string> = {
    zone_law_put: `/zones/${of.zone}`,
    zone_create: '/zones',
    dataset_transfer: '/datasets',
    tenant_zones_put: `/residency?${named({ tab: 'ask', ...about })}`,
    transfer_policy_propose: can('transfer:propose')
      ? `/residency?${named({ tab: 'policies', new: 'policy', ...about })}`
      : `/residency?${named({ tab: 'ask', ...about })}`,
  };
  const to = where[of.operation];
  return (
    <div className="remedy">
      <p>
        {t(`remedy.${of.rule}`, {
          zone: `\u2068${of.zone ?? ''}\u2069`,
          what: of.data_class ? t(`class.${of.data_class}`) : '',
        })}
      </p>
      <p>
        {t('remedy.may', { roles: people(of.roles) })}{' '}
        {of.approved_by.length > 0 && t(`remedy.approves_${of.approved_in}`, { roles: people(of.approved_by) })}
      </p>
      {to && can('zone:read') && (
        <p>
          <To to={to}>{t(`remedy.go_${of.operation}`)}</To>
        </p>
      )}
    </div>
  );
}
