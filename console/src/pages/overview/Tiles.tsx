// SPDX-License-Identifier: Apache-2.0
// Tiles.tsx - how things stand in one line of numbers; each leads to what it counts.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { money, number, showsUtc } from '../../lib/format.ts';
import { sinceStart } from '../../lib/lists.ts';
import { useSession } from '../../shell/session.tsx';
import { OfficerTiles, OperatorTiles } from './roles.tsx';

const EVERY = 10_000;
type Counts = Schemas['job_counts'];

export function Tile({
  label,
  to,
  search = {},
  mood = '',
  children,
}: {
  label: string;
  to: string;
  search?: Record<string, string>;
  mood?: string;
  children: ReactNode;
}) {
  return (
    <li className={`tile ${mood}`}>
      <Link to={to} search={search as never}>
        <span className="tile-label">{label}</span>
        <span className="tile-value">{children ?? '\u2013'}</span>
      </Link>
    </li>
  );
}

function JobTiles() {
  const { t } = useTranslation();
  const now = useGet('/v1/jobs/counts', {}, { everyMs: EVERY });
  const week = useGet('/v1/jobs/counts', { submitted_after: sinceStart('7d', false, showsUtc()) }, { everyMs: EVERY });
  const of = (counts: Counts | undefined, group: string): { text: ReactNode; jobs: number } => {
    const n = counts?.groups.find((g) => g.group === group);
    if (!n) return { text: undefined, jobs: 0 };
    return { text: n.is_exact ? number(n.jobs) : t('overview.atLeast', { n: number(n.jobs) }), jobs: n.jobs };
  };
  const failed = of(week.data, 'failed');
  return (
    <>
      <Tile label={t('overview.running')} to="/jobs" search={{ group: 'running' }}>
        {of(now.data, 'running').text}
      </Tile>
      <Tile label={t('overview.waiting')} to="/jobs" search={{ group: 'waiting' }}>
        {of(now.data, 'waiting').text}
      </Tile>
      <Tile
        label={t('overview.failedWeek')}
        to="/jobs"
        search={{ group: 'failed', since: '7d' }}
        mood={failed.jobs > 0 ? 'is-bad' : ''}
      >
        {failed.text}
      </Tile>
    </>
  );
}

function MachineTile() {
  const { t } = useTranslation();
  const list = useGet('/v1/nodes', { page_size: 200 }, { everyMs: EVERY });
  const all = list.data?.data;
  const ready = all?.filter((n) => n.state === 'READY').length ?? 0;
  return (
    <Tile
      label={t('overview.machines')}
      to="/workers"
      mood={all && (ready < all.length || all.length === 0) ? 'is-warning' : ''}
    >
      {all && t('overview.of', { used: number(ready), limit: number(all.length) })}
    </Tile>
  );
}

function SpentTile() {
  const { t } = useTranslation();
  const month = `${new Date().toISOString().slice(0, 7)}-01T00:00:00Z`;
  const sums = useGet('/v1/usage', { from: month, by: 'zone' }, { everyMs: 60_000 });
  const priced: Record<string, number> = {};
  for (const u of sums.data?.data ?? [])
    if (u.currency) priced[u.currency] = (priced[u.currency] ?? 0) + u.amount_minor;
  const amounts = Object.entries(priced);
  return (
    <Tile label={t('overview.spentMonth')} to="/quotas" search={{ tab: 'usage' }}>
      {amounts.length > 0
        ? amounts.map(([currency, n]) => <span key={currency}>{money(n, currency)}</span>)
        : sums.data && <small>{t('overview.noPrices')}</small>}
    </Tile>
  );
}

export function Tiles() {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <ul className="tiles" aria-label={t('overview.stand')}>
      {can('job:read') && <JobTiles />}
      {can('audit:hold') && <OfficerTiles />}
      {can('node:read') && <MachineTile />}
      {can('node:manage') && <OperatorTiles />}
      {can('usage:read') && <SpentTile />}
    </ul>
  );
}
