// SPDX-License-Identifier: Apache-2.0
// Audit.tsx - the log of everything: filters of the server, one event in full, signed heads, and the bundle that verifies offline.
import { ExpandableSection } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { withQuery, type Schemas } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { useGet } from '../api/hooks.ts';
import { number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Json, Pairs, State, Time } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../ui/table.tsx';

type Item = Schemas['audit_item'];
interface Event {
  action?: string;
  actor?: { id?: string; kind?: string } | string;
  outcome?: string;
  resource?: { id?: string; kind?: string } | string;
  time?: string;
  at?: string;
  ts_us?: number;
}
const eventOf = (i: Item): Event & Record<string, unknown> => (i.event ?? {}) as Event & Record<string, unknown>;
const word = (v: unknown): string =>
  typeof v === 'string'
    ? v
    : typeof v === 'object' && v !== null
      ? String((v as { id?: string; kind?: string }).id ?? (v as { kind?: string }).kind ?? '')
      : '';
const first = (e: Record<string, unknown>, ...names: string[]): unknown =>
  names.map((n) => e[n]).find((v) => v !== undefined && v !== null && v !== '');
const at = (e: Record<string, unknown>): string | undefined => {
  const v = first(e, 'at', 'time', 'occurred_at', 'at_us', 'ts_us', 'ts');
  return typeof v === 'number' ? new Date(v / 1000).toISOString() : typeof v === 'string' ? v : undefined;
};

function Head() {
  const { t } = useTranslation();
  const head = useGet<Schemas['head_out']>('/v1/audit/head', {}, { everyMs: 15_000 });
  // A log whose first head is not signed yet has none: that is no failure.
  if (head.error instanceof Problem && head.error.status === 404) return <p className="lead">{t('audit.noHead')}</p>;
  return (
    <Answer of={head}>
      {(h) => (
        <Pairs
          rows={[
            [t('audit.size'), number(h.size)],
            [t('audit.root'), <Code key="r">{h.root}</Code>],
            [t('audit.key'), <Code key="k">{h.key_id}</Code>],
          ]}
        />
      )}
    </Answer>
  );
}

export function Audit() {
  const { t } = useTranslation();
  const { can } = useSession();
  const filters: Filter[] = [
    { name: 'action', label: t('audit.action') },
    { name: 'actor', label: t('audit.actor') },
    { name: 'resource', label: t('audit.resource') },
    {
      name: 'outcome',
      label: t('audit.outcome'),
      options: ['success', 'denied', 'failed'].map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    { name: 'request_id', label: t('state.requestId') },
    { name: 'ip', label: t('settings.address') },
  ];
  return (
    <Page
      name={t('nav.audit')}
      title={t('nav.audit')}
      lead={t('audit.lead')}
      actions={
        can('audit:export') && (
          <a className="pf-v6-c-button pf-m-primary" href="/v1/audit/export" download="audit.jsonl">
            {t('audit.export')}
          </a>
        )
      }
      api={[`GET ${withQuery('/v1/audit/events', useListSearch(filters))}`, 'GET /v1/audit/head']}
      cli={['falaj audit events', 'falaj audit export', 'falaj audit verify audit.jsonl']}
    >
      <Head />
      <ServerTable<Item>
        path="/v1/audit/events"
        label={t('nav.audit')}
        filters={filters}
        rowKey={(i) => String(i.tseq)}
        after={(i) => String(i.tseq)}
        columns={[
          { name: 'tseq', label: t('audit.number'), cell: (i) => number(i.tseq) },
          { name: 'chain', label: t('col.at'), cell: (i) => <Time at={at(eventOf(i))} /> },
          {
            name: 'event_id',
            label: t('audit.action'),
            cell: (i) => (
              <>
                <Code>{word(eventOf(i).action)}</Code>
                <ExpandableSection toggleText={t('audit.whole')}>
                  <Json value={i.event} label={t('audit.whole')} />
                </ExpandableSection>
              </>
            ),
          },
          {
            name: 'personal',
            label: t('audit.actor'),
            cell: (i) => <Code>{word(first(eventOf(i), 'actor', 'actor_id', 'actor_kind'))}</Code>,
          },
          {
            name: 'leaf',
            label: t('audit.resource'),
            cell: (i) => <Code>{word(first(eventOf(i), 'resource', 'resource_id', 'resource_kind'))}</Code>,
          },
          { name: 'event', label: t('audit.outcome'), cell: (i) => <State value={word(eventOf(i).outcome)} /> },
        ]}
        empty={<Empty title={t('audit.empty')} body={t('audit.lead')} cli="falaj audit events" />}
      />
    </Page>
  );
}
