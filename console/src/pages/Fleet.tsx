// SPDX-License-Identifier: Apache-2.0
// Fleet.tsx - worker machines, with draining and its like; and the zones they stand in.
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../api/client.ts';
import { useForget } from '../api/hooks.ts';
import { bytes, number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Name, State, Time } from '../ui/bits.tsx';
import { TypedConfirm } from '../ui/dialogs.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

type Node = Schemas['node'];
type Zone = Schemas['zone'];
const ACTS: Record<string, string[]> = {
  READY: ['drain', 'quarantine'],
  DRAINING: ['undrain', 'quarantine'],
  QUARANTINED: ['release'],
};

export function Workers() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const filters: Filter[] = [
    {
      name: 'state',
      label: t('col.state'),
      options: ['READY', 'DRAINING', 'QUARANTINED', 'LOST'].map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    { name: 'zone', label: t('col.zone') },
    { name: 'pool', label: t('col.pool') },
    {
      name: 'sort',
      label: t('list.order'),
      options: [
        { value: '-created_at', label: t('list.newest') },
        { value: 'name', label: t('col.name') },
      ],
    },
  ];
  return (
    <Page
      name={t('nav.workers')}
      title={t('nav.workers')}
      api={[`GET ${withQuery('/v1/nodes', useListSearch(filters))}`]}
      cli={['falaj node list', ...(can('node:manage') ? ['falaj node drain NODE', 'falaj node join-token'] : [])]}
    >
      <ServerTable<Node>
        path="/v1/nodes"
        label={t('nav.workers')}
        filters={filters}
        rowKey={(n) => n.node_id!}
        columns={[
          { name: 'name', label: t('col.name'), cell: (n) => <Name>{n.name}</Name> },
          { name: 'state', label: t('col.state'), cell: (n) => <State value={n.state} /> },
          { name: 'zone', label: t('col.zone'), cell: (n) => <Code>{n.zone}</Code> },
          { name: 'pool', label: t('col.pool'), cell: (n) => <Code>{n.pool}</Code> },
          { name: 'slots', label: t('col.slots'), cell: (n) => number(n.slots) },
          { name: 'gpus', label: t('col.gpus'), cell: (n) => number(n.gpus) },
          { name: 'memory_bytes', label: t('col.memory'), cell: (n) => bytes(n.memory_bytes) },
          { name: 'last_seen_at', label: t('workers.seen'), cell: (n) => <Time at={n.last_seen_at} ago /> },
        ]}
        {...(can('node:manage')
          ? {
              rowActions: (n: Node) => (
                <>
                  {(ACTS[n.state!] ?? []).map((act) => (
                    <TypedConfirm
                      key={act}
                      variant="link"
                      reason
                      label={t(`workers.${act}`)}
                      title={t(`workers.${act}`)}
                      name={n.name ?? ''}
                      effect={t(`workers.${act}Effect`)}
                      onConfirm={async (reason) => {
                        const out = await change<Schemas['node_moved']>('POST', `/v1/nodes/${n.node_id!}/${act}`, {
                          reason,
                        });
                        toast(t('workers.moved', { count: out.jobs_running }));
                        await forget('/v1/nodes');
                      }}
                    />
                  ))}
                </>
              ),
            }
          : {})}
        empty={<Empty title={t('workers.empty')} body={t('workers.emptyBody')} cli="falaj node join-token" />}
      />
    </Page>
  );
}

export function Zones() {
  const { t } = useTranslation();
  const text = (v: unknown): string => (Array.isArray(v) ? v.join(', ') : '');
  return (
    <Page
      name={t('nav.zones')}
      title={t('nav.zones')}
      lead={t('zones.lead')}
      api={[`GET ${withQuery('/v1/zones', useListSearch())}`]}
      cli={['falaj zone list', 'falaj zone law ZONE']}
    >
      <ServerTable<Zone>
        path="/v1/zones"
        label={t('nav.zones')}
        rowKey={(z) => z.code!}
        columns={[
          { name: 'code', label: t('col.code'), cell: (z) => <Code>{z.code}</Code> },
          { name: 'name', label: t('col.name'), cell: (z) => <Name>{z.name}</Name> },
          { name: 'country', label: t('zones.country'), cell: (z) => <Code>{z.country}</Code> },
          { name: 'regulator', label: t('zones.regulator'), cell: (z) => <Name>{z.regulator}</Name> },
          { name: 'legal_regimes', label: t('zones.regimes'), cell: (z) => <Code>{text(z.legal_regimes)}</Code> },
          { name: 'law_version', label: t('zones.law'), cell: (z) => number(z.law_version) },
          { name: 'created_at', label: t('col.created'), cell: (z) => <Time at={z.created_at} ago /> },
        ]}
        empty={<Empty title={t('zones.empty')} body={t('zones.lead')} cli="falaj zone create CODE NAME COUNTRY" />}
      />
    </Page>
  );
}
