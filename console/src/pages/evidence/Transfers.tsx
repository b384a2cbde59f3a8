// SPDX-License-Identifier: Apache-2.0
// Transfers.tsx - the register of transfers: what was copied from one zone to another, by which rule and on which basis.
import { useTranslation } from 'react-i18next';
import { withQuery } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes } from '../../lib/format.ts';
import { Code, Time } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { Person } from '../audit/Person.tsx';
import { useKnown } from '../audit/words.ts';

export function Transfers() {
  const { t, i18n } = useTranslation();
  const known = useKnown();
  const zones = useGet('/v1/zones', { page_size: 200 });
  const filters: Filter[] = [
    {
      name: 'zone',
      label: t('col.zone'),
      options: (zones.data?.data ?? []).map((z) => ({ value: z.code!, label: z.code! })),
    },
  ];
  const { zone } = useListSearch(filters);
  const csv = withQuery('/v1/transfers.csv', { zone });
  return (
    <Page
      name={t('evidence.register')}
      title={t('evidence.register')}
      crumbs={[[t('nav.evidence'), '/evidence']]}
      lead={t('evidence.registerBody')}
      api={['GET /v1/transfers', `GET ${csv}`]}
      cli={['falaj transfer list']}
      actions={
        <a className="pf-v6-c-button pf-m-secondary" href={csv} download="transfers.csv">
          {t('evidence.wholeCsv')}
        </a>
      }
    >
      <ServerTable
        path="/v1/transfers"
        label={t('evidence.register')}
        rowKey={(x) => x.transfer_id!}
        filters={filters}
        columns={[
          { name: 'at', label: t('col.at'), cell: (x) => <Time at={x.at} /> },
          { name: 'from_zone', label: t('evidence.f_from_zone'), cell: (x) => <Code>{x.from_zone}</Code> },
          { name: 'to_zone', label: t('evidence.f_to_zone'), cell: (x) => <Code>{x.to_zone}</Code> },
          {
            name: 'data_class',
            label: t('col.class'),
            cell: (x) =>
              i18n.exists(`class.${x.data_class}`) ? t(`class.${x.data_class}`) : <Code>{x.data_class}</Code>,
          },
          { name: 'purpose', label: t('evidence.f_purpose'), cell: (x) => <bdi>{x.purpose}</bdi> },
          {
            name: 'legal_basis',
            label: t('evidence.f_legal_basis'),
            cell: (x) => <Code>{x.legal_basis ?? x.rule}</Code>,
          },
          { name: 'dataset_id', label: t('thing.dataset'), cell: (x) => <Code>{x.dataset_id}</Code> },
          { name: 'bytes', label: t('col.size'), cell: (x) => bytes(x.bytes) },
          { name: 'by_user', label: t('audit.actor'), cell: (x) => <Person id={x.by_user} known={known} /> },
        ]}
        empty={<Empty title={t('evidence.noTransfers')} body={t('evidence.registerBody')} cli="falaj transfer list" />}
      />
    </Page>
  );
}
