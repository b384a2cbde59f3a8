// SPDX-License-Identifier: Apache-2.0
// Fleet.tsx - the zones that machines stand in.
import { useTranslation } from 'react-i18next';
import { withQuery, type Schemas } from '../api/client.ts';
import { number } from '../lib/format.ts';
import { Code, Name, Time } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch } from '../ui/table.tsx';

type Zone = Schemas['zone'];
export function Zones() {
  const { t } = useTranslation();
  const text = (v: unknown): string => (Array.isArray(v) ? v.join(', ') : '');
  return (
    <Page
      name={t('nav.zones')}
      title={t('nav.zones')}
      lead={t('zones.lead')}
      api={[`GET ${withQuery('/v1/zones', useListSearch())}`]}
      cli={['falaj zone list', 'falaj zone law ZONE']}
    >
      <ServerTable<Zone>
        path="/v1/zones"
        label={t('nav.zones')}
        rowKey={(z) => z.code!}
        columns={[
          { name: 'code', label: t('col.code'), cell: (z) => <Code>{z.code}</Code> },
          { name: 'name', label: t('col.name'), cell: (z) => <Name>{z.name}</Name> },
          { name: 'country', label: t('zones.country'), cell: (z) => <Code>{z.country}</Code> },
          { name: 'regulator', label: t('zones.regulator'), cell: (z) => <Name>{z.regulator}</Name> },
          { name: 'legal_regimes', label: t('zones.regimes'), cell: (z) => <Code>{text(z.legal_regimes)}</Code> },
          { name: 'law_version', label: t('zones.law'), cell: (z) => number(z.law_version) },
          { name: 'created_at', label: t('col.created'), cell: (z) => <Time at={z.created_at} ago /> },
        ]}
        empty={<Empty title={t('zones.empty')} body={t('zones.lead')} cli="falaj zone create CODE NAME COUNTRY" />}
      />
    </Page>
  );
}
