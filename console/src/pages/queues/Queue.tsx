// SPDX-License-Identifier: Apache-2.0
// Queue.tsx - one queue: its share in a sentence and in numbers, and what it used before.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number, percent } from '../../lib/format.ts';
import { Code, Id, Pairs } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';

const HOUR = 3600,
  MILLION = 1_000_000,
  THOUSAND = 1000;

/** The API's sentence in the reader's language: of the rule by which most is borrowed. */
function Sentence({ of }: { of: Schemas['queue_share'] }) {
  const { t } = useTranslation();
  const [first, ...rest] = of.parts;
  if (!first) return <p className="lead">{t('queues.noRule', { jobs: number(of.waiting_jobs) })}</p>;
  const p = rest.reduce((most, x) => (x.borrowed > most.borrowed ? x : most), first);
  const where = [p.flavor, p.zone].filter(Boolean).map((x) => `\u2068${x}\u2069`);
  return (
    <p className="lead">
      {t('queues.sentence', {
        thing: [t(p.resource === 'gpus' ? 'col.gpus' : 'col.slots'), ...where].join(' · '),
        used: number(p.used),
        nominal: number(p.nominal),
        lent: number(p.lent),
        borrowed: number(p.borrowed),
        fair: number(p.fair),
        jobs: number(of.waiting_jobs),
      })}
    </p>
  );
}

const COLUMNS = ['nominal', 'used', 'borrowed', 'lent', 'fair', 'waiting', 'weight', 'moved'] as const;
/** Weights come in thousandths. */
const shown = (p: Schemas['queue_part'], c: (typeof COLUMNS)[number]): string =>
  number(c === 'moved' ? p.moved_weight / THOUSAND : c === 'weight' ? p.weight / THOUSAND : p[c]);

export function QueueDetail() {
  const { t } = useTranslation();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/queues/${encodeURIComponent(id)}/share` as const;
  const query = useGet(path, {}, { everyMs: 10_000 });
  const { data: policy } = useGet(`/v1/queues/${encodeURIComponent(id)}`);
  return (
    <Page
      name={query.data?.name ?? id}
      title={<Code>{query.data?.name ?? id}</Code>}
      crumbs={[[t('nav.queues'), '/queues']]}
      api={[`GET ${path}`, `GET /v1/queues/${id}`]}
      cli={[`falaj queue share ${id}`]}
    >
      <Answer of={query}>
        {(s) => (
          <>
            <Sentence of={s} />
            <Pairs
              rows={[
                [t('queues.stop'), policy && t(`queues.${policy.stop_policy}`)],
                [t('queues.mode'), policy && t(`queues.${policy.mode}`)],
                [t('queues.within'), policy && t(`queues.${policy.within_cluster_queue}`)],
                [t('queues.reclaim'), policy && t(`queues.${policy.reclaim_within_cohort}`)],
                [t('queues.waitingJobs'), number(s.waiting_jobs)],
                [t('queues.share'), t('queues.ofLent', { n: percent(s.share / MILLION) })],
                [t('queues.slotHours'), number(Math.round(s.slot_usage / HOUR))],
                [t('queues.gpuHours'), number(Math.round(s.gpu_usage / HOUR))],
                [t('queues.usagePart'), percent(s.usage_permille / THOUSAND)],
                [t('col.id'), <Id key="id" value={s.queue_id} />],
              ]}
            />
            {s.parts.length > 0 && (
              <Table aria-label={t('queues.numbers')} variant="compact" gridBreakPoint="grid-md">
                <Thead>
                  <Tr>
                    <Th>{t('queues.resource')}</Th>
                    {COLUMNS.map((c) => (
                      <Th key={c}>{t(`queues.${c}`)}</Th>
                    ))}
                  </Tr>
                </Thead>
                <Tbody>
                  {s.parts.map((p) => (
                    <Tr key={`${p.resource} ${p.flavor} ${p.zone}`}>
                      <Td dataLabel={t('queues.resource')}>
                        <Code>{[p.resource, p.flavor, p.zone].filter(Boolean).join(' ')}</Code>
                      </Td>
                      {COLUMNS.map((c) => (
                        <Td key={c} dataLabel={t(`queues.${c}`)}>
                          {shown(p, c)}
                        </Td>
                      ))}
                    </Tr>
                  ))}
                </Tbody>
              </Table>
            )}
            <p>{t('queues.usageBody')}</p>
          </>
        )}
      </Answer>
    </Page>
  );
}
