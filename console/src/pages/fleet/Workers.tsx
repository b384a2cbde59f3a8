// SPDX-License-Identifier: Apache-2.0
// Workers.tsx - the fleet: machines in a grid by zone and pool, or as a table.
import { ToggleGroup, ToggleGroupItem } from '@patternfly/react-core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useLive } from '../../api/live.ts';
import { change, withQuery } from '../../api/client.ts';
import { number } from '../../lib/format.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { useNameFilter } from '../../ui/table/usual.ts';
import { Certificate, Skew, usePlatformVersion } from './bits.tsx';
import { NODE_STATES, type Node } from './data.ts';
import './fleet.css';
import { FleetGrid } from './Grid.tsx';

export function useNodeFilters(): Filter[] {
  const { t } = useTranslation();
  return [
    { name: 'state', label: t('col.state'), options: NODE_STATES.map((s) => ({ value: s, label: t(`value.${s}`) })) },
    { name: 'zone', label: t('col.zone') },
    { name: 'pool', label: t('col.pool') },
  ];
}

function NodeTable({ filters }: { filters: Filter[] }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const version = usePlatformVersion();
  return (
    <ServerTable
      path="/v1/nodes"
      label={t('nav.workers')}
      filters={[
        useNameFilter(),
        ...filters,
        {
          name: 'sort',
          label: t('list.order'),
          options: [
            { value: '-created_at', label: t('list.newest') },
            { value: 'name', label: t('col.name') },
          ],
        },
      ]}
      rowKey={(n) => n.node_id!}
      rowName={(n) => n.name ?? ''}
      bulk={
        can('node:manage')
          ? (['drain', 'undrain'] as const).map((act) => ({
              label: t(`workers.${act}`),
              reason: true,
              confirm: t(`workers.${act}Effect`),
              fits: (n: Node) => n.state === (act === 'drain' ? 'READY' : 'DRAINING'),
              run: (n: Node, reason: string) => change('POST', `/v1/nodes/${n.node_id!}/${act}`, { reason }),
            }))
          : []
      }
      columns={[
        {
          name: 'name',
          label: t('col.name'),
          cell: (n) => (
            <To to={`/workers/${n.node_id!}`}>
              <Name>{n.name}</Name>
            </To>
          ),
        },
        { name: 'state', label: t('col.state'), cell: (n) => <State value={n.state} /> },
        { name: 'zone', label: t('col.zone'), cell: (n) => <Code>{n.zone}</Code> },
        { name: 'pool', label: t('col.pool'), cell: (n) => <Code>{n.pool}</Code> },
        { name: 'slots', label: t('col.slots'), cell: (n) => <Used used={n.used_slots} of={n.slots} /> },
        { name: 'gpus', label: t('col.gpus'), cell: (n) => <Used used={n.used_gpus} of={n.gpus} /> },
        { name: 'flavor', label: t('workers.flavor'), cell: (n) => <Code>{n.flavor}</Code> },
        { name: 'last_seen_at', label: t('workers.seen'), cell: (n) => <Time at={n.last_seen_at} ago /> },
        {
          name: 'cert_ends_at',
          label: t('workers.cert'),
          cell: (n) => (
            <>
              <Certificate node={n} /> <Skew node={n} version={version} />
            </>
          ),
        },
      ]}
      empty={<Empty title={t('overview.noWorkers')} body={t('workers.emptyBody')} cli="falaj node join-token" />}
    />
  );
}

function Used({ used, of }: { used: number | undefined; of: number }) {
  const { t } = useTranslation();
  return <>{used === undefined ? number(of) : t('overview.of', { used: number(used), limit: number(of) })}</>;
}

export function Workers() {
  const { t } = useTranslation();
  const { can } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const filters = useNodeFilters();
  useLive(['nodes'], ['/v1/nodes']);
  const view = search['view'] === 'table' ? 'table' : 'grid';
  return (
    <Page
      name={t('nav.workers')}
      title={t('nav.workers')}
      lead={t('workers.lead')}
      api={[`GET ${withQuery('/v1/nodes', useListSearch([useNameFilter(), ...filters, { name: 'sort', label: '' }]))}`]}
      cli={['falaj node list', ...(can('node:manage') ? ['falaj node drain NODE', 'falaj node join-token'] : [])]}
      actions={
        can('node:manage') && (
          <Link to="/workers/join" className="pf-v6-c-button pf-m-primary">
            <span className="pf-v6-c-button__text">{t('workers.join')}</span>
          </Link>
        )
      }
    >
      <ToggleGroup className="fleet-view" aria-label={t('workers.view')} isCompact>
        {(['grid', 'table'] as const).map((v) => (
          <ToggleGroupItem
            key={v}
            buttonId={`view-${v}`}
            text={t(`workers.${v}`)}
            isSelected={view === v}
            onChange={() =>
              void navigate({ to: '.', search: withFilter(search, 'view', v === 'grid' ? '' : v) as never })
            }
          />
        ))}
      </ToggleGroup>
      {view === 'grid' ? <FleetGrid filters={filters} /> : <NodeTable filters={filters} />}
    </Page>
  );
}
