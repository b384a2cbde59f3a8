// SPDX-License-Identifier: Apache-2.0
// Keys.tsx - the tenant's keys, zone by zone: how old, when they are to be rotated, how many data keys hang on them.
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Certificates } from '../audit/Erasures.tsx';
import { Advice, Word } from './pieces.tsx';

export function Keys() {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Page
      name={t('nav.keys')}
      title={t('nav.keys')}
      lead={t('keyring.lead')}
      api={['GET /v1/keys', 'GET /v1/erasure-certificates']}
      cli={['falaj key list', 'falaj key certificates']}
    >
      <ServerTable
        path="/v1/keys"
        label={t('nav.keys')}
        rowKey={(k) => k.zone!}
        noPages
        columns={[
          {
            name: 'zone',
            label: t('col.zone'),
            cell: (k) => (
              <To to={`/keys/${k.zone!}`}>
                <Code>{k.zone}</Code>
              </To>
            ),
          },
          { name: 'tier', label: t('keyring.tier'), cell: (k) => <Word of="tier" value={k.tier} /> },
          { name: 'primary_version', label: t('keyring.primary'), cell: (k) => number(k.primary_version) },
          { name: 'versions', label: t('datasets.versions'), cell: (k) => number(k.versions) },
          { name: 'data_keys', label: t('keyring.dataKeys'), cell: (k) => number(k.data_keys) },
          { name: 'rotated_at', label: t('keyring.rotated'), cell: (k) => <Time at={k.rotated_at} ago /> },
          { name: 'rotate_before', label: t('keyring.before'), cell: (k) => <Time at={k.rotate_before} ago /> },
          { name: 'advice', label: t('keyring.advice'), cell: (k) => <Advice value={k.advice} /> },
        ]}
        empty={<Empty title={t('keyring.none')} body={t('keyring.noneBody')} cli="falaj key list" />}
      />
      {can('key:read') && (
        <>
          <h2 className="block">{t('erasures.certificates')}</h2>
          <Certificates />
        </>
      )}
    </Page>
  );
}
