// SPDX-License-Identifier: Apache-2.0
// Events.tsx - the states of a job and its executions as tables.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { bytes, duration, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, shortId, State, Time, To } from '../../ui/bits.tsx';
import { Cause } from '../../ui/cause.tsx';
import { Answer } from '../../ui/states.tsx';
import { Reason } from './Waiting.tsx';

export function Events({ id }: { id: string }) {
  const { t } = useTranslation();
  const list = useGet(`/v1/jobs/${id}/events`);
  return (
    <Answer of={list}>
      {(page) => (
        <Table variant="compact" aria-label={t('job.events')} gridBreakPoint="grid-md">
          <Thead>
            <Tr>
              <Th>{t('col.at')}</Th>
              <Th>{t('col.state')}</Th>
              <Th>{t('job.lasted')}</Th>
              <Th modifier="nowrap">{t('col.fence')}</Th>
              <Th>{t('col.reason')}</Th>
              {page.data.some((x) => x.message) && <Th>{t('col.message')}</Th>}
            </Tr>
          </Thead>
          <Tbody>
            {page.data.map((e, i) => (
              <Tr key={e.version}>
                <Td dataLabel={t('col.at')}>
                  <Time at={e.at} />
                </Td>
                <Td dataLabel={t('col.state')}>
                  <State value={e.state} />
                </Td>
                <Td dataLabel={t('job.lasted')}>{page.data[i + 1] ? duration(e.at, page.data[i + 1]!.at) : ''}</Td>
                <Td dataLabel={t('col.fence')}>{e.fence > 0 ? number(e.fence) : ''}</Td>
                <Td dataLabel={t('col.reason')}>
                  <Reason code={e.reason} />
                </Td>
                {page.data.some((x) => x.message) && (
                  <Td dataLabel={t('col.message')}>
                    <Cause message={e.message} />
                  </Td>
                )}
              </Tr>
            ))}
          </Tbody>
        </Table>
      )}
    </Answer>
  );
}

/** What the next attempt would go on from; nothing where there is none. */
function Checkpoints({ id }: { id: string }) {
  const { t } = useTranslation();
  const list = useGet(`/v1/jobs/${id}/checkpoints`);
  const rows = list.data?.data ?? [];
  if (rows.length === 0) return null;
  return (
    <>
      <h2 className="lead">{t('job.checkpoints')}</h2>
      <Table variant="compact" aria-label={t('job.checkpoints')} gridBreakPoint="grid-md">
        <Thead>
          <Tr>
            <Th>{t('job.checkpointStep')}</Th>
            <Th>{t('job.checkpointKept')}</Th>
            <Th modifier="nowrap">{t('col.size')}</Th>
            <Th modifier="nowrap">{t('col.fence')}</Th>
            <Th>{t('job.checkpointUse')}</Th>
          </Tr>
        </Thead>
        <Tbody>
          {rows.map((c) => (
            <Tr key={c.object_id}>
              <Td dataLabel={t('job.checkpointStep')}>{number(c.step)}</Td>
              <Td dataLabel={t('job.checkpointKept')}>
                <Time at={c.kept_at} />
              </Td>
              <Td dataLabel={t('col.size')}>{bytes(c.size_bytes)}</Td>
              <Td dataLabel={t('col.fence')}>{number(c.fence)}</Td>
              <Td dataLabel={t('job.checkpointUse')}>
                {t(c.place === 1 ? 'job.checkpointNext' : 'job.checkpointSpare')}
              </Td>
            </Tr>
          ))}
        </Tbody>
      </Table>
    </>
  );
}

export function Attempts({ id }: { id: string }) {
  return (
    <>
      <Executions id={id} />
      <Checkpoints id={id} />
    </>
  );
}

function Executions({ id }: { id: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const list = useGet(`/v1/jobs/${id}/attempts`);
  return (
    <Answer of={list}>
      {(page) =>
        page.data.length === 0 ? (
          <p className="lead">{t('job.noAttempts')}</p>
        ) : (
          <Table variant="compact" aria-label={t('job.attempts')} gridBreakPoint="grid-md">
            <Thead>
              <Tr>
                <Th modifier="nowrap">{t('col.fence')}</Th>
                <Th>{t('col.state')}</Th>
                <Th>{t('col.started')}</Th>
                <Th modifier="nowrap">{t('col.duration')}</Th>
                {page.data.some((x) => x.cause) && <Th>{t('job.failedBy')}</Th>}
                <Th modifier="nowrap">{t('job.exitCode')}</Th>
                <Th>{t('col.node')}</Th>
                {page.data.some((x) => x.message) && <Th>{t('col.message')}</Th>}
                <Th modifier="nowrap">{t('job.logs')}</Th>
              </Tr>
            </Thead>
            <Tbody>
              {page.data.map((a) => (
                <Tr key={a.attempt_id}>
                  <Td dataLabel={t('col.fence')}>{number(a.fence)}</Td>
                  <Td dataLabel={t('col.state')}>
                    <State value={a.state} />
                  </Td>
                  <Td dataLabel={t('col.started')}>
                    <Time at={a.started_at ?? a.leased_at} />
                  </Td>
                  <Td dataLabel={t('col.duration')}>{duration(a.started_at, a.finished_at)}</Td>
                  {page.data.some((x) => x.cause) && (
                    <Td dataLabel={t('job.failedBy')}>{a.cause ? t(`job.failed_${a.cause}`) : ''}</Td>
                  )}
                  <Td dataLabel={t('job.exitCode')}>{number(a.exit_code)}</Td>
                  <Td dataLabel={t('col.node')}>
                    {can('node:read') ? (
                      <To to={`/workers/${a.node_id!}`}>
                        <Code>{shortId(a.node_id)}</Code>
                      </To>
                    ) : (
                      <Code>{shortId(a.node_id)}</Code>
                    )}
                  </Td>
                  {page.data.some((x) => x.message) && (
                    <Td dataLabel={t('col.message')}>
                      <Cause message={a.message} />
                    </Td>
                  )}
                  <Td dataLabel={t('job.logs')}>
                    <To to={`/jobs/${id}?fence=${a.fence}&tab=logs`}>{t('job.itsLog')}</To>
                  </Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )
      }
    </Answer>
  );
}
