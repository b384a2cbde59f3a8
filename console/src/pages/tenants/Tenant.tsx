// SPDX-License-Identifier: Apache-2.0
// Tenant.tsx - one tenant as the platform sees it: its state, where its data may be, and what it may use. Its content is not here.
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, State, Time } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import type { Field } from '../../ui/form.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import '../fleet/fleet.css';
import { CLASSES, strings } from '../zones/data.ts';
import { Quotas, Rules } from './Limits.tsx';
import { TenantActs } from './life.tsx';
import type { Tenant } from './Tenants.tsx';
import { titleOf } from '../../lib/titles.ts';
import { RenameButton } from '../../ui/naming.tsx';

type View = Schemas['tenant_zones_view'];
type ClassZones = Schemas['class_zones'];

function Zones({ id }: { id: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const path = `/v1/tenants/${id}/zones` as const;
  const view = useGet(path);
  const all = useGet('/v1/zones', { page_size: 200 });
  const own = (v: View): ClassZones[] => (Array.isArray(v.classes) ? (v.classes as ClassZones[]) : []);
  const codes = all.data?.data.map((z) => z.code!) ?? [];
  const nameOf = (code: string): string => all.data?.data.find((z) => z.code === code)?.name ?? '';
  const fields = (v: View): Field[] => [
    ...codes
      .filter((c) => c !== v.home_zone)
      .map((c): Field => ({
        name: `zone_${c}`,
        label: `${c} · ${nameOf(c)}`,
        kind: 'check',
        group: t('tenants.more'),
      })),
    ...CLASSES.map((c): Field => ({
      name: `class_${c}`,
      label: t('tenants.onlyIn', { what: t(`class.${c}`) }),
      help: t('tenants.onlyInHelp'),
      pattern: /^[a-z0-9-]+(\s*,\s*[a-z0-9-]+)*$/,
    })),
    { name: 'reason', label: t('zones.askReason'), kind: 'area', required: true, max: 1024 },
  ];
  return (
    <Answer of={view}>
      {(v) => {
        const allowed = strings(v.allowed_zones);
        return (
          <>
            <Table aria-label={t('tenants.zones')} variant="compact" gridBreakPoint="grid-md">
              <Thead>
                <Tr>
                  <Th>{t('col.class')}</Th>
                  <Th>{t('tenants.allowed')}</Th>
                </Tr>
              </Thead>
              <Tbody>
                {CLASSES.map((c) => {
                  const named = own(v).find((x) => x.data_class === c);
                  return (
                    <Tr key={c}>
                      <Td dataLabel={t('col.class')}>{t(`class.${c}`)}</Td>
                      <Td dataLabel={t('tenants.allowed')}>
                        <Code>{(named?.zones ?? allowed).join(', ')}</Code> {named && t('tenants.ownList')}
                      </Td>
                    </Tr>
                  );
                })}
              </Tbody>
            </Table>
            {can('tenant:policy') && all.data && (
              <p className="block">
                <FormButton
                  variant="secondary"
                  label={t('tenants.askZones')}
                  title={t('tenants.askZones')}
                  lead={<p className="effect">{t('tenants.askZonesEffect')}</p>}
                  fields={fields(v)}
                  initial={{
                    ...Object.fromEntries(codes.map((c) => [`zone_${c}`, allowed.includes(c)])),
                    ...Object.fromEntries(own(v).map((x) => [`class_${x.data_class}`, x.zones.join(', ')])),
                  }}
                  onSubmit={async (f) => {
                    const zones = codes.filter((c) => c === v.home_zone || f[`zone_${c}`] === true);
                    const classes = CLASSES.filter((c) => f[`class_${c}`]).map((c) => ({
                      data_class: c,
                      zones: String(f[`class_${c}`]).split(/\s*,\s*/),
                    }));
                    await change('PUT', path, { allowed_zones: zones, classes, reason: String(f['reason'] ?? '') });
                    await forget('/v1/approvals');
                    toast(t('zones.asked'));
                  }}
                />
              </p>
            )}
          </>
        );
      }}
    </Answer>
  );
}

export function TenantDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const path = `/v1/tenants/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {}, { everyMs: 30_000 });
  const tenant = query.data;
  const tabs: [string, (x: Tenant) => ReactNode][] = [
    [
      'facts',
      (x) => (
        <>
          {x.state === 'DELETING' && <Note variant="warning" title={t('tenants.deleting')} />}
          <Pairs
            rows={[
              [t('col.state'), <State key="s" value={x.state} />],
              [t('col.reason'), x.state_reason ? <Name key="r">{x.state_reason}</Name> : undefined],
              [t('tenants.deleteAfter'), x.delete_after && <Time key="d" at={x.delete_after} />],
              [t('tenants.short'), <Code key="n">{x.name}</Code>],
              [t('tenants.home'), <Code key="h">{x.home_zone}</Code>],
              [t('tenants.allowed'), <Code key="z">{strings(x.allowed_zones).join(', ')}</Code>],
              [t('col.created'), <Time key="c" at={x.created_at} />],
              [t('col.id'), <Id key="i" value={x.tenant_id} />],
            ]}
          />
        </>
      ),
    ],
    ['zones', () => <Zones id={id} />],
  ];
  if (can('quota:read-any')) {
    tabs.push(['quotas', () => <Quotas id={id} />]);
    tabs.push(['rules', () => <Rules id={id} />]);
  }
  const now = tabs.find(([k]) => k === search['tab'])?.[0] ?? 'facts';
  return (
    <Page
      name={titleOf(tenant) || id}
      title={<Name>{titleOf(tenant) || id}</Name>}
      crumbs={[[t('nav.tenants'), '/tenants']]}
      api={[`GET ${path}${now === 'facts' ? '' : `/${now === 'rules' ? 'quota-rules' : now}`}`]}
      cli={[`falaj tenant get ${id}`, ...(now === 'quotas' ? [`falaj quota list --tenant ${id}`] : [])]}
      actions={
        tenant && (
          <>
            {can('tenant:name') && (
              <RenameButton
                of={tenant}
                lock={{ read: () => get(path), was: { ...tenant } }}
                forgets="/v1/tenants"
                save={(body, tag) => change('PATCH', path, body, { 'if-match': tag })}
              />
            )}
            <TenantActs tenant={tenant} />
          </>
        )
      }
    >
      <Answer of={query}>
        {(x) => (
          <Tabs
            mountOnEnter
            unmountOnExit
            activeKey={now}
            aria-label={tenant?.name ?? id}
            onSelect={(_e, k) =>
              void navigate({ to: '.', search: withFilter({}, 'tab', k === 'facts' ? '' : String(k)) as never })
            }
          >
            {tabs.map(([k, draw]) => (
              <Tab key={k} eventKey={k} title={<TabTitleText>{t(`tenants.${k}`)}</TabTitleText>}>
                <div className="block">{draw(x)}</div>
              </Tab>
            ))}
          </Tabs>
        )}
      </Answer>
    </Page>
  );
}
