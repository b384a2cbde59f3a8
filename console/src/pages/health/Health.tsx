// SPDX-License-Identifier: Apache-2.0
// Health.tsx - how the platform is: its parts, the promises of the job queue, and what runs here.
import { Button, Card, CardBody, CardTitle, Label } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { get, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { duration, number } from '../../lib/format.ts';
import { Code, Name, Pairs, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';

type Part = Schemas['component'];
const COLOUR = { ok: 'green', degraded: 'orange', down: 'red' } as const;

/** A figure in the unit that people read it in: an age as a moment, a yes or no in words. */
function Fact({ name, value, at }: { name: string; value: number; at: string | undefined }) {
  const { t } = useTranslation();
  if (name.endsWith('_age_ms')) return <Time at={new Date(Date.parse(at ?? '') - value).toISOString()} ago />;
  if (name.endsWith('_us')) return <>{t('health.ms', { ms: number(value / 1000, 1) })}</>;
  if (name.startsWith('is_')) return <>{t(value > 0 ? 'keyring.yes' : 'keyring.no')}</>;
  return <>{number(value)}</>;
}

function PartCard({ part, at }: { part: Part; at: string | undefined }) {
  const { t, i18n } = useTranslation();
  const known = (key: string): boolean => i18n.exists(key);
  return (
    <Card isCompact component="section">
      <CardTitle component="h3">
        {known(`health.part_${part.name!}`) ? (
          t(`health.part_${part.name!}`, { zone: `\u2068${part.zone ?? ''}\u2069` })
        ) : (
          <Code>{part.name}</Code>
        )}{' '}
        <Label isCompact color={COLOUR[part.state]}>
          {t(`health.${part.state}`)}
        </Label>
      </CardTitle>
      <CardBody>
        {part.state !== 'ok' && (
          <p>
            <bdi lang="en" dir="ltr" translate="no">
              {part.detail}
            </bdi>
          </p>
        )}
        <p className="lead">
          {part.latency_ms !== undefined && t('health.latency', { ms: number(part.latency_ms, 1) })}{' '}
          {part.version && <Code>{part.version}</Code>}
        </p>
        <ul className="rows">
          {part.facts.map((f) => (
            <li key={f.name}>
              <span>{known(`health.fact_${f.name!}`) ? t(`health.fact_${f.name!}`) : <Code>{f.name}</Code>}</span>
              <span>
                <Fact name={f.name ?? ''} value={f.value} at={at} />
              </span>
            </li>
          ))}
        </ul>
      </CardBody>
    </Card>
  );
}

/** Asked for by hand: each promise is counted over the whole queue. */
function Promises() {
  const { t } = useTranslation();
  const check = useQuery({
    queryKey: ['/v1/system/invariants'],
    enabled: false,
    queryFn: async () => ({
      ...(await get('/v1/system/invariants')),
      at: new Date().toISOString(),
    }),
  });
  const broken = check.data?.data?.filter((p) => p.violations > 0).length ?? 0;
  return (
    <section>
      <h2 className="block">{t('health.promises')}</h2>
      <p className="block">
        <Button
          variant="secondary"
          isLoading={check.isFetching}
          isDisabled={check.isFetching}
          spinnerAriaValueText={t('state.loading')}
          onClick={() => void check.refetch()}
        >
          {t('health.check')}
        </Button>{' '}
        {check.data ? (
          <>
            {t('health.checked')} <Time at={check.data.at} ago />
          </>
        ) : (
          <span className="lead">{t('health.notYet')}</span>
        )}
      </p>
      {(check.data !== undefined || check.isError) && (
        <Answer of={check}>
          {(out) => (
            <>
              <Note
                variant={broken > 0 ? 'danger' : 'success'}
                title={broken > 0 ? t('health.broken', { count: broken }) : t('health.kept')}
              />
              <Table aria-label={t('health.promises')} variant="compact" gridBreakPoint="grid-md">
                <Thead>
                  <Tr>
                    <Th modifier="wrap">{t('col.name')}</Th>
                    <Th modifier="wrap">{t('health.promise')}</Th>
                    <Th modifier="wrap">{t('health.breaks')}</Th>
                  </Tr>
                </Thead>
                <Tbody>
                  {(out.data ?? []).map((p) => (
                    <Tr key={p.name}>
                      <Td dataLabel={t('col.name')}>
                        <Code>{p.name}</Code>
                      </Td>
                      <Td dataLabel={t('health.promise')}>
                        <Name>{p.doc}</Name>
                      </Td>
                      <Td dataLabel={t('health.breaks')}>
                        <Label isCompact color={p.violations > 0 ? 'red' : 'green'}>
                          {number(p.violations)}
                        </Label>
                      </Td>
                    </Tr>
                  ))}
                </Tbody>
              </Table>
            </>
          )}
        </Answer>
      )}
    </section>
  );
}

export function Health() {
  const { t } = useTranslation();
  const health = useGet('/v1/system/health', {}, { everyMs: 10_000 });
  const version = useGet('/version');
  return (
    <Page
      name={t('nav.health')}
      title={t('nav.health')}
      lead={t('health.lead')}
      api={['GET /v1/system/health', 'GET /v1/system/invariants', 'GET /version']}
      cli={['falaj doctor']}
    >
      <Answer of={health}>
        {(h) => (
          <>
            <Note
              variant={h.state === 'ok' ? 'success' : h.state === 'degraded' ? 'warning' : 'danger'}
              title={t(`health.all_${h.state}`)}
            >
              {t('health.asked')} <Time at={h.checked_at} ago />
            </Note>
            <h2 className="block">{t('health.parts')}</h2>
            <div className="cards">
              {h.components.map((c) => (
                <PartCard key={`${c.name!} ${c.zone ?? ''}`} part={c} at={h.checked_at} />
              ))}
            </div>
            <Promises />
            <h2 className="block">{t('health.version')}</h2>
            <Pairs
              rows={[
                [t('health.program'), version.data && <Code key="n">{version.data.name}</Code>],
                [t('health.version'), <Code key="v">{h.version}</Code>],
                [t('health.compiler'), version.data && <Code key="c">{version.data.compiler}</Code>],
                [
                  t('health.uptime'),
                  <span key="u">
                    {duration(new Date(Date.parse(h.checked_at!) - 1000 * h.uptime_s).toISOString(), h.checked_at)}
                  </span>,
                ],
              ]}
            />
          </>
        )}
      </Answer>
    </Page>
  );
}
