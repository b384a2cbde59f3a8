// SPDX-License-Identifier: Apache-2.0
// Health.tsx - how the platform is: its parts, the promises of the job queue, and what runs here.
import { Button, Card, CardBody, CardTitle, Label } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { getJson, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, Pairs, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { useReady } from '../zones/data.ts';

type Part = Schemas['ready_part'];
const COLOUR: Record<string, 'green' | 'red' | 'orange'> = {
  ok: 'green',
  down: 'red',
  sealed: 'red',
  degraded: 'orange',
  draining: 'orange',
};

function PartCard({ part }: { part: Part }) {
  const { t, i18n } = useTranslation();
  const [kind = '', zone] = (part.name ?? '').split(' ');
  const [word = '', ...why] = (part.status ?? '').split(': ');
  const isKnown = i18n.exists(`health.part_${kind}`);
  return (
    <Card isCompact component="section">
      <CardTitle component="h3">
        {isKnown ? t(`health.part_${kind}`, { zone: `\u2068${zone ?? ''}\u2069` }) : <Code>{part.name}</Code>}{' '}
        <Label isCompact color={COLOUR[word] ?? 'orange'}>
          {COLOUR[word] ? t(`health.${word}`) : <Code>{part.status}</Code>}
        </Label>
      </CardTitle>
      <CardBody>
        {why.length > 0 && (
          <p>
            <bdi lang="en" dir="ltr" translate="no">
              {why.join(': ')}
            </bdi>
          </p>
        )}
        {isKnown && (
          <span className="lead">
            {t('health.about')}: {t(`health.about_${kind}`)}
          </span>
        )}
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
      ...(await getJson<Schemas['invariants_out']>('/v1/system/invariants')),
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
  const { can } = useSession();
  const ready = useReady();
  const version = useGet<Schemas['version_out']>('/version');
  return (
    <Page
      name={t('nav.health')}
      title={t('nav.health')}
      lead={t('health.lead')}
      api={['GET /readyz', 'GET /version', ...(can('system:inspect') ? ['GET /v1/system/invariants'] : [])]}
      cli={['falaj doctor']}
    >
      <Answer of={ready}>
        {(r) => (
          <>
            <Note
              variant={r.status === 'ready' ? 'success' : 'danger'}
              title={r.status === 'ready' ? t('health.ready') : t('health.notReady')}
            />
            <h2 className="block">{t('health.parts')}</h2>
            <div className="cards">
              {(r.parts ?? []).map((p) => (
                <PartCard key={p.name} part={p} />
              ))}
            </div>
          </>
        )}
      </Answer>
      {can('system:inspect') && <Promises />}
      <h2 className="block">{t('health.version')}</h2>
      <Answer of={version}>
        {(v) => (
          <Pairs
            rows={[
              [t('health.program'), <Code key="n">{v.name}</Code>],
              [t('health.version'), <Code key="v">{v.version}</Code>],
              [t('health.compiler'), <Code key="c">{v.compiler}</Code>],
            ]}
          />
        )}
      </Answer>
    </Page>
  );
}
