// SPDX-License-Identifier: Apache-2.0
// Attention.tsx - what waits for the reader, worst first, each with why and with the place where it is dealt with.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { CheckCircleIcon } from '@patternfly/react-icons';
import { useTranslation } from 'react-i18next';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number, showsUtc } from '../../lib/format.ts';
import { byCause, isWaiting } from '../../lib/jobs.ts';
import { sinceStart } from '../../lib/lists.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { Cause } from '../../ui/cause.tsx';
import { Answer } from '../../ui/states.tsx';

const EVERY = 10_000;
const FORTNIGHT_MS = 14 * 86_400_000;
/** Of each sort; the tiles above lead to all of them. */
const MOST = 3;
/** Of failed jobs that are sorted by their cause. */
const SORTED = 50;

interface Item {
  key: string;
  state: ReactNode;
  what: ReactNode;
  why?: ReactNode;
  at?: string | undefined;
  act: [label: string, to: string];
}

function useJobItems(): { items: Item[]; first: ReturnType<typeof useGet<'/v1/jobs'>> } {
  const { t, i18n } = useTranslation();
  const { can } = useSession();
  const enabled = can('job:read');
  const read = { everyMs: EVERY, enabled };
  const week = sinceStart('7d', false, showsUtc());
  const failed = useGet('/v1/jobs', { group: 'failed', submitted_after: week, page_size: SORTED }, read);
  const waiting = useGet('/v1/jobs', { group: 'waiting', page_size: MOST }, read);
  const reason = (code: string | undefined): ReactNode =>
    code && (i18n.exists(`reason.${code}`) ? t(`reason.${code}`) : <Code>{code}</Code>);
  const item = (j: Schemas['job'], label: string, tab: string): Item => ({
    key: j.job_id!,
    state: <State value={j.state} />,
    what: <Name>{j.name}</Name>,
    why: j.message && !isWaiting(j.state) ? <Cause message={j.message} /> : reason(j.reason),
    at: j.finished_at ?? j.submitted_at,
    act: [label, `/jobs/${j.job_id!}${tab}`],
  });
  return {
    first: failed,
    items: [
      ...byCause(failed.data?.data ?? [])
        .slice(0, MOST)
        .map(({ first, count }): Item => {
          const one = item(first, t('overview.readLog'), '?tab=logs');
          return count === 1
            ? one
            : {
                ...one,
                what: t('overview.sameCause', { count, n: number(count), name: `\u2068${first.name ?? ''}\u2069` }),
                act: [t('overview.all'), '/jobs?group=failed&since=7d'],
              };
        }),
      ...(waiting.data?.data ?? []).map((j) => item(j, t('overview.seeWhy'), '')),
    ],
  };
}

function useApprovalItems(): Item[] {
  const { t } = useTranslation();
  const { can } = useSession();
  const list = useGet(
    '/v1/approvals',
    { state: 'PENDING', page_size: MOST },
    { everyMs: EVERY, enabled: can('approval:read') },
  );
  return (list.data?.data ?? []).map((a) => ({
    key: a.approval_id!,
    state: t('overview.approval'),
    what: <Name>{a.subject ?? a.kind}</Name>,
    at: a.created_at,
    act: [t('overview.decide'), '/approvals'],
  }));
}

function useMachineItems(): Item[] {
  const { t } = useTranslation();
  const { can } = useSession();
  const list = useGet('/v1/nodes', { page_size: 200 }, { everyMs: EVERY, enabled: can('node:read') });
  const nodes = (list.data?.data ?? []).filter((n) => n.state !== 'RETIRED');
  if (list.data && nodes.length === 0)
    return [
      {
        key: 'no nodes',
        state: t('overview.noWorkers'),
        what: t('overview.nothingRuns'),
        act: can('node:manage') ? [t('overview.addNode'), '/workers/join'] : [t('overview.look'), '/workers'],
      },
    ];
  return nodes
    .filter((n) => n.state !== 'READY')
    .slice(0, MOST)
    .map((n) => ({
      key: n.node_id!,
      state: <State value={n.state} />,
      what: <Name>{n.name}</Name>,
      why: <Code>{n.zone}</Code>,
      at: n.last_seen_at,
      act: [t('overview.look'), `/workers/${n.node_id!}`],
    }));
}

/** Parts of the platform that are not well, for who runs it. */
function useHealthItems(): Item[] {
  const { t, i18n } = useTranslation();
  const { can } = useSession();
  const health = useGet('/v1/system/health', {}, { everyMs: EVERY, enabled: can('system:inspect') });
  return (health.data?.components ?? [])
    .filter((c) => c.state !== 'ok')
    .map((c) => ({
      key: `${c.name ?? ''} ${c.zone ?? ''}`,
      state: t(`overview.part_${c.state}`),
      what: i18n.exists(`health.part_${c.name ?? ''}`) ? (
        t(`health.part_${c.name ?? ''}`, { zone: `\u2068${c.zone ?? ''}\u2069` })
      ) : (
        <Code>{c.name}</Code>
      ),
      why: (
        <bdi lang="en" dir="ltr" translate="no">
          {c.detail}
        </bdi>
      ),
      act: [t('overview.look'), '/health'],
    }));
}

/** One's own tokens that end within a fortnight, and keys that are due for rotation. */
function useEndingItems(): Item[] {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const tokens = useGet(
    '/v1/api-tokens',
    { user_id: me.user_id, page_size: 200 },
    { enabled: can('token:own'), everyMs: 60_000 },
  );
  const keys = useGet('/v1/keys', {}, { enabled: can('key:read') && me.tenant_id !== null, everyMs: 60_000 });
  const soon = (tokens.data?.data ?? []).filter((x) => {
    const left = Date.parse(x.expires_at ?? '') - Date.now();
    return !x.revoked_at && left > 0 && left < FORTNIGHT_MS;
  });
  return [
    ...soon.slice(0, MOST).map((x): Item => ({
      key: x.token_id!,
      state: t('overview.tokenEnds'),
      what: <Name>{x.name}</Name>,
      at: x.expires_at,
      act: [t('overview.renew'), '/tokens'],
    })),
    ...(keys.data?.data ?? [])
      .filter((k) => k.advice)
      .slice(0, MOST)
      .map((k): Item => ({
        key: k.zone!,
        state: t('overview.keyDue'),
        what: <Code>{k.zone}</Code>,
        at: k.rotate_before,
        act: [t('overview.look'), `/keys/${k.zone!}`],
      })),
  ];
}

export function Attention() {
  const { t } = useTranslation();
  const { can } = useSession();
  const jobs = useJobItems();
  const all = [...jobs.items, ...useApprovalItems(), ...useMachineItems(), ...useHealthItems(), ...useEndingItems()];
  const list =
    all.length === 0 ? (
      <p className="all-well">
        <CheckCircleIcon /> {t('overview.nothing')}
      </p>
    ) : (
      <ul className="needs">
        {all.map((x) => (
          <li key={x.key}>
            <span className="needs-state">{x.state}</span>
            <span className="needs-what">
              <strong>{x.what}</strong> {x.why && <span className="needs-why">{x.why}</span>}
            </span>
            <Time at={x.at} ago />
            <To to={x.act[1]}>{x.act[0]}</To>
          </li>
        ))}
      </ul>
    );
  return (
    <Card className="block">
      <CardTitle component="h2">{t('overview.attention')}</CardTitle>
      <CardBody>{can('job:read') ? <Answer of={jobs.first}>{() => list}</Answer> : list}</CardBody>
    </Card>
  );
}
