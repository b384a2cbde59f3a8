// SPDX-License-Identifier: Apache-2.0
// Transfers.tsx - what crossed from zone to zone, and what the judge refused.
import { useTranslation } from 'react-i18next';
import { bytes } from '../../lib/format.ts';
import { Code, Id, Time, To } from '../../ui/bits.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';

export function Transfers() {
  const { t } = useTranslation();
  return (
    <ServerTable
      path="/v1/transfers"
      label={t('residency.transfers')}
      filters={[{ name: 'zone', label: t('col.zone') }]}
      rowKey={(x) => x.transfer_id!}
      columns={[
        { name: 'at', label: t('col.at'), cell: (x) => <Time at={x.at} /> },
        { name: 'from_zone', label: t('residency.from'), cell: (x) => <Code>{x.from_zone}</Code> },
        { name: 'to_zone', label: t('residency.to'), cell: (x) => <Code>{x.to_zone}</Code> },
        { name: 'data_class', label: t('col.class'), cell: (x) => t(`class.${x.data_class!}`) },
        {
          name: 'dataset_id',
          label: t('nav.datasets'),
          cell: (x) => (
            <To to={`/datasets/${x.dataset_id!}`}>
              <Code>{`${x.dataset_id!.slice(0, 12)}…`}</Code>
            </To>
          ),
        },
        { name: 'bytes', label: t('col.size'), cell: (x) => bytes(x.bytes) },
        {
          name: 'legal_basis',
          label: t('residency.basisOf'),
          cell: (x) => (x.legal_basis ? t(`residency.basis_${x.legal_basis}`) : <Code>{x.rule}</Code>),
        },
      ]}
      empty={
        <Empty title={t('residency.noTransfers')} body={t('residency.noTransfersBody')} cli="falaj transfer list" />
      }
    />
  );
}

export function Refused() {
  const { t } = useTranslation();
  return (
    <ServerTable
      path="/v1/audit/events"
      label={t('residency.refused')}
      fixed={{ action: 'residency.deny' }}
      after={(e) => String(e.tseq)}
      rowKey={(e) => String(e.tseq)}
      columns={[
        { name: 'at', label: t('col.at'), cell: (e) => <Time at={e.at} /> },
        { name: 'actor_name', label: t('residency.who'), cell: (e) => <Code>{e.actor_name ?? e.actor_id}</Code> },
        {
          name: 'resource_id',
          label: t('residency.about'),
          cell: (e) => (
            <>
              <Code>{e.resource_kind}</Code> <Id value={e.resource_id} />
            </>
          ),
        },
        { name: 'event', label: t('residency.words'), cell: (e) => <Details of={e.event} /> },
      ]}
      empty={
        <Empty
          title={t('residency.noneRefused')}
          body={t('residency.noneRefusedBody')}
          cli="falaj audit search --action residency.deny"
        />
      }
    />
  );
}
function Details({ of }: { of: unknown }) {
  const details = (of as { details?: Record<string, unknown> } | null)?.details ?? {};
  return (
    <Code>
      {Object.entries(details)
        .map(([k, v]) => `${k}=${String(v)}`)
        .join(' ')}
    </Code>
  );
}
