// SPDX-License-Identifier: Apache-2.0
// Zones.tsx - residency zones on a map and in a table, and the dialog that makes one.
import { Label } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { LawPreview } from './builder.tsx';
import { useZoneViews, type Health, type ZoneView } from './data.ts';
import { lawBody, lawFields, lawValues } from './law.ts';
import { ZoneMap } from './Map.tsx';

const COLOUR: Record<Health, 'green' | 'grey' | 'red'> = { sound: 'green', idle: 'grey', hurt: 'red' };
export function ZoneHealth({ health }: { health: Health }) {
  const { t } = useTranslation();
  return (
    <Label isCompact color={COLOUR[health]}>
      {t(`zones.${health}`)}
    </Label>
  );
}

function NewZone() {
  const { t } = useTranslation();
  const forget = useForget();
  const navigate = useNavigate();
  return (
    <FormButton
      label={t('zones.new')}
      title={t('zones.new')}
      size="large"
      opens="zone"
      lead={<p className="effect">{t('zones.newLead')}</p>}
      fields={[
        {
          name: 'code',
          label: t('col.code'),
          help: t('zones.codeHelp'),
          required: true,
          max: 31,
          pattern: /^[a-z0-9][a-z0-9-]{1,30}$/,
        },
        { name: 'name', label: t('col.name'), required: true, max: 128 },
        {
          name: 'country',
          label: t('zones.country'),
          help: t('zones.countryHelp'),
          required: true,
          pattern: /^[A-Z]{2}$/,
        },
        ...lawFields(t),
      ]}
      extra={(form) => <LawPreview form={form} />}
      initial={{
        country: 'AE',
        ...lawValues({ data_classes: ['public', 'internal', 'personal', 'sensitive'] }),
      }}
      onSubmit={async (v) => {
        await change('POST', '/v1/zones', { code: v['code'], name: v['name'], country: v['country'], law: lawBody(v) });
        await forget('/v1/zones');
        toast(t('zones.made', { code: `\u2068${String(v['code'])}\u2069` }));
        await navigate({ to: `/zones/${String(v['code'])}` as never });
      }}
    />
  );
}

function ZoneTable({ views }: { views: ZoneView[] }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const machines = can('node:read');
  const cols = [
    t('col.code'),
    t('col.name'),
    t('col.state'),
    ...(machines ? [t('workers.machines'), t('col.slots'), t('col.gpus')] : []),
    t('nav.keys'),
    t('zones.country'),
    t('zones.law'),
  ];
  const share = (s: { used: number | undefined; of: number }): string =>
    s.used === undefined ? number(s.of) : t('overview.of', { used: number(s.used), limit: number(s.of) });
  return (
    <Table className="zone-table" aria-label={t('nav.zones')} variant="compact" gridBreakPoint="grid-lg">
      <Thead>
        <Tr>
          {cols.map((c) => (
            <Th key={c} modifier="wrap">
              {c}
            </Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>
        {views.map((v) => {
          const cells = [
            <To key="c" to={`/zones/${v.zone.code!}`}>
              <Code>{v.zone.code}</Code>
            </To>,
            <Name key="n">{v.zone.name}</Name>,
            <ZoneHealth key="h" health={v.health} />,
            ...(machines ? [number(v.nodes?.length), share(v.slots), share(v.gpus)] : []),
            v.keys === 'ok' ? (
              t('zones.keysOpen')
            ) : v.keys === undefined ? (
              t('zones.keysUnknown')
            ) : (
              <Code key="k">{v.keys}</Code>
            ),
            <Code key="l">{v.zone.country}</Code>,
            number(v.zone.law_version),
          ];
          return (
            <Tr key={v.zone.code}>
              {cells.map((cell, i) => (
                <Td key={cols[i]} dataLabel={cols[i]!}>
                  {cell}
                </Td>
              ))}
            </Tr>
          );
        })}
      </Tbody>
    </Table>
  );
}

export function Zones() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { zones, views } = useZoneViews();
  useLive(can('node:read') ? ['nodes'] : [], ['/v1/nodes']);
  return (
    <Page
      name={t('nav.zones')}
      title={t('nav.zones')}
      lead={t('zones.lead')}
      api={['GET /v1/zones?page_size=200', ...(can('node:read') ? ['GET /v1/nodes?page_size=200'] : [])]}
      cli={[
        'falaj zone list',
        'falaj zone law ZONE',
        ...(can('zone:create') ? ['falaj zone templates', 'falaj zone create CODE NAME COUNTRY --laws LAWS'] : []),
      ]}
      actions={can('zone:create') && <NewZone />}
    >
      <Answer of={zones}>
        {() =>
          views.length === 0 ? (
            <Empty
              title={t('zones.empty')}
              body={t('zones.lead')}
              cli="falaj zone create CODE NAME COUNTRY --laws LAWS"
            />
          ) : (
            <>
              <ZoneMap views={views} />
              <ZoneTable views={views} />
            </>
          )
        }
      </Answer>
    </Page>
  );
}
