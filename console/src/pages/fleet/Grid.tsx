// SPDX-License-Identifier: Apache-2.0
// Grid.tsx - machines side by side, by zone and pool: what each has, how much of it is leased, and what is not as it should be.
import {
  Alert,
  Button,
  EmptyState,
  EmptyStateActions,
  EmptyStateFooter,
  FormSelect,
  FormSelectOption,
  Toolbar,
  ToolbarContent,
  ToolbarItem,
} from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import type { Filter } from '../../ui/table.tsx';
import { Certificate, ShareLine, Skew, usePlatformVersion } from './bits.tsx';
import { groups, shareOf, useFleet, type Fleet, type Node } from './data.ts';

function Tile({ node, version }: { node: Node; version: string | undefined }) {
  const { t } = useTranslation();
  const [slots, gpus] = [shareOf([node], 'slots'), shareOf([node], 'gpus')];
  const own = (used: number | undefined, of: number) => ({ used, of });
  return (
    <li className={`fleet-node is-${node.state!}`}>
      <div className="fleet-head">
        <To to={`/workers/${node.node_id!}`}>
          <Name>{node.name}</Name>
        </To>
        <State value={node.state} />
      </div>
      <ShareLine label={t('col.slots')} share={own(slots.used, node.slots)} cells />
      {node.gpus > 0 && <ShareLine label={t('col.gpus')} share={own(gpus.used, node.gpus)} cells />}
      <div className="fleet-foot">
        <span>
          {t('workers.seen')} <Time at={node.last_seen_at} ago />
        </span>
        <Code>{[node.flavor, node.backend].filter(Boolean).join(' · ')}</Code>
        <Skew node={node} version={version} />
        <Certificate node={node} quiet />
      </div>
      {node.reason && (
        <div className="fleet-foot">
          <span>
            {t('col.reason')}: <Name>{node.reason}</Name>
          </span>
        </div>
      )}
    </li>
  );
}

function Sums({ fleet }: { fleet: Fleet }) {
  const { t } = useTranslation();
  const { nodes } = fleet;
  const sums = (['slots', 'gpus'] as const).map((what) => ({ what, ...shareOf(nodes, what) }));
  const off = nodes.filter((n) => n.state !== 'READY').length;
  return (
    <dl className="fleet-sums">
      <div>
        <dt>{t('workers.machines')}</dt>
        <dd>{number(nodes.length)}</dd>
      </div>
      <div>
        <dt>{t('workers.away')}</dt>
        <dd>{number(off)}</dd>
      </div>
      {sums.map(({ what, used, of }) => (
        <div key={what}>
          <dt>{used === undefined ? t(`col.${what}`) : t(`workers.${what}Leased`)}</dt>
          <dd>{used === undefined ? number(of) : t('overview.of', { used: number(used), limit: number(of) })}</dd>
        </div>
      ))}
    </dl>
  );
}

export function FleetGrid({ filters }: { filters: Filter[] }) {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const version = usePlatformVersion();
  const filter = Object.fromEntries(filters.map((f) => [f.name, search[f.name]]));
  const filtered = filters.some((f) => search[f.name]);
  const fleet = useFleet(filter);
  const all = useFleet({}, filtered);
  const known = (filtered ? all.data : fleet.data)?.nodes ?? [];
  const put = (name: string, v: string): void =>
    void navigate({ to: '.', search: withFilter(search, name, v) as never });
  const options = (f: Filter) =>
    f.options ??
    [...new Set([...known.map((n) => n[f.name as 'zone' | 'pool']!), ...(search[f.name] ? [search[f.name]!] : [])])]
      .sort()
      .map((v) => ({ value: v, label: v }));
  return (
    <>
      <Toolbar className="list-tools">
        <ToolbarContent rowWrap={{ default: 'wrap' }}>
          {filters.map((f) => (
            <ToolbarItem key={f.name}>
              <FormSelect aria-label={f.label} value={search[f.name] ?? ''} onChange={(_e, v) => put(f.name, v)}>
                <FormSelectOption value="" label={t('list.any', { what: f.label })} />
                {options(f).map((o) => (
                  <FormSelectOption key={o.value} value={o.value} label={o.label} />
                ))}
              </FormSelect>
            </ToolbarItem>
          ))}
        </ToolbarContent>
      </Toolbar>
      <Answer of={fleet}>
        {(f) =>
          f.nodes.length === 0 ? (
            filtered ? (
              <EmptyState titleText={t('list.noMatch')} headingLevel="h2" variant="sm">
                <EmptyStateFooter>
                  <EmptyStateActions>
                    <Button variant="link" onClick={() => void navigate({ to: '.', search: {} as never })}>
                      {t('list.clear')}
                    </Button>
                  </EmptyStateActions>
                </EmptyStateFooter>
              </EmptyState>
            ) : (
              <Empty title={t('overview.noWorkers')} body={t('workers.emptyBody')} cli="falaj node join-token" />
            )
          ) : (
            <>
              {f.cut && <Alert isInline variant="info" title={t('workers.cut', { count: f.nodes.length })} />}
              <Sums fleet={f} />
              {groups(f.nodes).map((g) => (
                <section key={`${g.zone} ${g.pool}`} aria-label={`${g.zone} ${g.pool}`}>
                  <div className="fleet-group">
                    <h2>
                      {t('col.zone')} <Code>{g.zone}</Code> · {t('col.pool')} <Code>{g.pool}</Code>
                    </h2>
                    <span>{t('workers.count', { count: g.nodes.length })}</span>
                  </div>
                  <ul className="fleet-grid">
                    {g.nodes.map((n) => (
                      <Tile key={n.node_id} node={n} version={version} />
                    ))}
                  </ul>
                </section>
              ))}
            </>
          )
        }
      </Answer>
    </>
  );
}
