// SPDX-License-Identifier: Apache-2.0
// Tenants.tsx - the directory of tenants, and the dialog that makes one with its first administrator.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TENANT_LIST_STATE } from '../../api/gen/enums.ts';
import { change, withQuery, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, OnceSecret } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { useNameFilter } from '../../ui/table/usual.ts';
import { strings } from '../zones/data.ts';
import { useNameFields } from '../../ui/naming.tsx';

export type Tenant = Schemas['tenant'];
type Made = Schemas['tenant_create_out'];
export const TENANT_STATES = TENANT_LIST_STATE;

function NewTenant() {
  const { t } = useTranslation();
  const forget = useForget();
  const [made, setMade] = useState<Made | null>(null);
  const zones = useGet('/v1/zones', { page_size: 200 });
  const named = useNameFields();
  if (!zones.data) return null;
  const codes = zones.data.data.map((z) => z.code!);
  return (
    <>
      <FormButton
        label={t('tenants.new')}
        title={t('tenants.new')}
        opens="tenant"
        lead={<p className="effect">{t('tenants.newLead')}</p>}
        fields={[
          { name: 'name', label: t('tenants.short'), help: t('tenants.shortHelp'), required: true, pattern: SLUG },
          ...named,
          {
            name: 'home_zone',
            label: t('tenants.home'),
            help: t('tenants.homeHelp'),
            kind: 'select',
            options: zones.data.data.map((z) => ({ value: z.code!, label: `${z.code!} · ${z.name!}` })),
          },
          ...zones.data.data.map((z) => ({
            name: `zone_${z.code!}` as const,
            label: `${z.code!} · ${z.name!}`,
            kind: 'check' as const,
            group: t('tenants.more'),
          })),
          { name: 'admin_name', label: t('tenants.adminName'), max: 128 },
        ]}
        onSubmit={async (v) => {
          const home = String(v['home_zone']);
          const more = codes.filter((c) => v[`zone_${c}`] === true || c === home);
          const out = await change('POST', '/v1/tenants', {
            name: v.name,
            home_zone: home,
            ...bodyOf(named, v),
            ...(v['admin_name'] ? { admin_name: v['admin_name'] } : {}),
            ...(more.length > 1 ? { allowed_zones: more } : {}),
          });
          setMade(out);
          await forget('/v1/tenants');
        }}
      />
      {made && (
        <OnceSecret title={t('tenants.adminToken')} secrets={[made.admin_token!]} onClose={() => setMade(null)} />
      )}
    </>
  );
}

export function Tenants() {
  const { t } = useTranslation();
  const { can } = useSession();
  const filters: Filter[] = [
    useNameFilter(),
    { name: 'state', label: t('col.state'), options: TENANT_STATES.map((s) => ({ value: s, label: t(`value.${s}`) })) },
    {
      name: 'sort',
      label: t('list.order'),
      options: [
        { value: '-created', label: t('list.newest') },
        { value: 'name', label: t('tenants.short') },
      ],
    },
  ];
  return (
    <Page
      name={t('nav.tenants')}
      title={t('nav.tenants')}
      lead={t('tenants.lead')}
      api={[`GET ${withQuery('/v1/tenants', useListSearch(filters))}`]}
      cli={['falaj tenant list', ...(can('tenant:create') ? ['falaj tenant create NAME --zone ZONE'] : [])]}
      actions={can('tenant:create') && <NewTenant />}
    >
      <ServerTable
        path="/v1/tenants"
        label={t('nav.tenants')}
        filters={filters}
        rowKey={(x) => x.tenant_id!}
        columns={[
          {
            name: 'name',
            label: t('tenants.short'),
            cell: (x) => (
              <To to={`/tenants/${x.tenant_id!}`}>
                <Code>{x.name}</Code>
              </To>
            ),
          },
          { name: 'display_name', label: t('col.name'), cell: (x) => <Called of={x} /> },
          { name: 'state', label: t('col.state'), cell: (x) => <State value={x.state} /> },
          { name: 'home_zone', label: t('tenants.home'), cell: (x) => <Code>{x.home_zone}</Code> },
          {
            name: 'allowed_zones',
            label: t('tenants.allowed'),
            cell: (x) => <Code>{strings(x.allowed_zones).join(', ')}</Code>,
          },
          { name: 'created_at', label: t('col.created'), cell: (x) => <Time at={x.created_at} ago /> },
        ]}
        empty={<Empty title={t('tenants.none')} body={t('tenants.lead')} cli="falaj tenant create NAME --zone ZONE" />}
      />
    </Page>
  );
}
