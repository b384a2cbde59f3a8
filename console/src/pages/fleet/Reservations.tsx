// SPDX-License-Identifier: Apache-2.0
// Reservations.tsx - nodes kept for a window of time: which, when, for whom; made and removed here.
import { useTranslation } from 'react-i18next';
import { RESERVATION_CREATE_PURPOSE, RESERVATION_LIST_STATE } from '../../api/gen/enums.ts';
import { change, withQuery } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { formFields, SLUG } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { momentOf } from '../audit/when.tsx';

const PATH = '/v1/reservations';
const MOMENT = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$/;
const at = (text: string): string => momentOf(text.replace(' ', 'T'));

function Create() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const zones = useGet('/v1/zones', { page_size: 200 });
  const tenants = useGet('/v1/tenants', { page_size: 200 }, { enabled: can('tenant:read') });
  if (!zones.data) return null;
  const fields = formFields(
    {
      name: 'purpose',
      label: t('reserve.purpose'),
      kind: 'select',
      options: RESERVATION_CREATE_PURPOSE.map((p) => ({ value: p, label: t(`reserve.purpose_${p}`) })),
    },
    {
      name: 'tenant_id',
      label: t('reserve.tenant'),
      kind: 'select',
      help: t('reserve.tenantHelp'),
      options: [
        { value: '', label: t('reserve.noTenant') },
        ...(tenants.data?.data ?? []).map((x) => ({ value: x.tenant_id, label: x.name })),
      ],
    },
    { name: 'project_id', label: t('reserve.project'), ltr: true, help: t('reserve.projectHelp') },
    { name: 'from_at', label: t('reserve.from'), pattern: MOMENT, help: t('reserve.fromHelp') },
    { name: 'until_at', label: t('reserve.until'), pattern: MOMENT, required: true, help: t('reserve.untilHelp') },
    { name: 'nodes', label: t('reserve.nodes'), ltr: true, help: t('reserve.nodesHelp') },
    {
      name: 'zone',
      label: t('reserve.zone'),
      kind: 'select',
      options: [
        { value: '', label: t('reserve.noZone') },
        ...zones.data.data.map((z) => ({ value: z.code!, label: z.code! })),
      ],
    },
    { name: 'flavor', label: t('reserve.flavor'), pattern: SLUG, help: t('reserve.flavorHelp') },
    {
      name: 'machines',
      label: t('reserve.machines'),
      kind: 'number',
      min: 1,
      max: 1000,
      help: t('reserve.machinesHelp'),
    },
    { name: 'reason', label: t('col.reason'), max: 256 },
  );
  return (
    <FormButton
      label={t('reserve.create')}
      title={t('reserve.create')}
      opens="reservation"
      fields={fields}
      lead={<p className="effect">{t('reserve.lead')}</p>}
      onSubmit={async (v) => {
        const nodes = v.nodes
          .split(',')
          .map((n) => n.trim())
          .filter(Boolean);
        await change('POST', PATH, {
          purpose: v.purpose,
          until_at: at(v.until_at),
          ...(v.from_at ? { from_at: at(v.from_at) } : {}),
          ...(v.tenant_id ? { tenant_id: v.tenant_id } : {}),
          ...(v.project_id ? { project_id: v.project_id } : {}),
          ...(nodes.length ? { nodes } : {}),
          ...(v.zone ? { zone: v.zone } : {}),
          ...(v.flavor ? { flavor: v.flavor } : {}),
          ...(v.machines ? { machines: Number(v.machines) } : {}),
          ...(v.reason ? { reason: v.reason } : {}),
        });
        toast(t('reserve.created'));
        await forget(PATH);
      }}
    />
  );
}

/** node: only those that have it, on its own page. */
export function ReservationTable({ node }: { node?: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const tenants = useGet('/v1/tenants', { page_size: 200 }, { enabled: can('tenant:read') });
  const states = useStates();
  const nameOf = (id: string): string | undefined => tenants.data?.data.find((x) => x.tenant_id === id)?.name;
  return (
    <ServerTable
      path={PATH}
      {...(node ? { fixed: { node_id: node }, prefix: 'kept' } : {})}
      label={t('reserve.of')}
      rowKey={(r) => r.reservation_id}
      rowName={(r) => t(`reserve.purpose_${r.purpose}`)}
      filters={node ? [] : states}
      columns={[
        { name: 'purpose', label: t('reserve.purpose'), cell: (r) => t(`reserve.purpose_${r.purpose}`) },
        { name: 'state', label: t('col.state'), cell: (r) => <State value={r.state} /> },
        { name: 'from_at', label: t('reserve.from'), cell: (r) => <Time at={r.from_at} /> },
        { name: 'until_at', label: t('reserve.until'), cell: (r) => <Time at={r.until_at} /> },
        { name: 'machines', label: t('reserve.nodes'), cell: (r) => number(r.machines) },
        {
          name: 'tenant_id',
          label: t('reserve.tenant'),
          cell: (r) =>
            r.tenant_id && (
              <To to={`/tenants/${r.tenant_id}`}>
                {nameOf(r.tenant_id) ? <Name>{nameOf(r.tenant_id)}</Name> : <Code>{r.tenant_id}</Code>}
              </To>
            ),
        },
        { name: 'reason', label: t('col.reason'), cell: (r) => <bdi>{r.reason}</bdi>, extra: true },
        { name: 'zone', label: t('reserve.zone'), cell: (r) => r.zone && <Code>{r.zone}</Code>, extra: true },
        { name: 'flavor', label: t('reserve.flavor'), cell: (r) => r.flavor && <Code>{r.flavor}</Code>, extra: true },
      ]}
      rowActions={(r) =>
        can('reservation:manage') ? (
          <FormButton
            variant="link"
            label={t('reserve.delete')}
            title={t('reserve.deleteOf')}
            fields={[]}
            lead={<p className="effect">{t('reserve.deleteBody')}</p>}
            onSubmit={async () => {
              await change('DELETE', `${PATH}/${r.reservation_id}`);
              toast(t('reserve.deleted'));
              await forget(PATH);
            }}
          />
        ) : null
      }
      empty={
        <Empty title={t('reserve.none')} body={t('reserve.lead')} cli="falaj reservation create maintenance UNTIL" />
      }
    />
  );
}

function useStates(): Filter[] {
  const { t } = useTranslation();
  return [
    {
      name: 'state',
      label: t('col.state'),
      options: RESERVATION_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
  ];
}

export function Reservations() {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Page
      name={t('reserve.title')}
      title={t('reserve.title')}
      lead={t('reserve.lead')}
      crumbs={[[t('nav.workers'), '/workers']]}
      api={[
        `GET ${withQuery(PATH, useListSearch(useStates()))}`,
        ...(can('reservation:manage') ? [`POST ${PATH}`] : []),
      ]}
      cli={[
        'falaj reservation list',
        'falaj reservation create maintenance UNTIL --nodes A,B',
        'falaj reservation delete rsv_…',
      ]}
      actions={can('reservation:manage') && <Create />}
    >
      <ReservationTable />
    </Page>
  );
}
