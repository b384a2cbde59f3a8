// SPDX-License-Identifier: Apache-2.0
// Queue.tsx - one queue: its share in the API's sentence and in numbers, and what it used before.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Code, Id, Pairs } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';

const HOUR = 3600;

export function QueueDetail() {
  const { t } = useTranslation();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/queues/${encodeURIComponent(id)}/share` as const;
  const query = useGet(path, {}, { everyMs: 10_000 });
  const columns = ['nominal', 'used', 'borrowed', 'lent', 'fair', 'waiting', 'weight', 'moved'] as const;
  return (
    <Page
      name={query.data?.name ?? id}
      title={<Code>{query.data?.name ?? id}</Code>}
      crumbs={[[t('nav.queues'), '/queues']]}
      api={[`GET ${path}`]}
      cli={[`falaj queue share ${id}`]}
    >
      <Answer of={query}>
        {(s) => (
          <>
            <p className="lead" lang="en" dir="ltr">
              {s.sentence}
            </p>
            <Pairs
              rows={[
                [t('queues.waitingJobs'), number(s.waiting_jobs)],
                [t('queues.share'), t('queues.millionths', { n: number(s.share) })],
                [t('queues.slotHours'), number(Math.round(s.slot_usage / HOUR))],
                [t('queues.gpuHours'), number(Math.round(s.gpu_usage / HOUR))],
                [t('queues.usagePart'), t('queues.permille', { n: number(s.usage_permille) })],
                [t('col.id'), <Id key="id" value={s.queue_id} />],
              ]}
            />
            {s.parts.length > 0 && (
              <Table aria-label={t('queues.numbers')} variant="compact" gridBreakPoint="grid-md">
                <Thead>
                  <Tr>
                    <Th>{t('queues.resource')}</Th>
                    {columns.map((c) => (
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
                      {columns.map((c) => (
                        <Td key={c} dataLabel={t(`queues.${c}`)}>
                          {number(c === 'moved' ? p.moved_weight : p[c])}
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
