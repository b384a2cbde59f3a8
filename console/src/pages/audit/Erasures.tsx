// SPDX-License-Identifier: Apache-2.0
// Erasures.tsx - persons whose data in the log was made unreadable, the asking for it, and certificates of destroyed keys.
import { FormGroup, FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { saveAs } from '../../lib/csv.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Time, To } from '../../ui/bits.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { EraseButton } from './Erase.tsx';
import { Frame } from './frame.tsx';
import { Button } from './pieces.tsx';
import { useKnown } from './words.ts';

function Ask() {
  const { t } = useTranslation();
  const known = useKnown();
  const [id, setId] = useState('');
  const holds = useGet('/v1/audit/holds', { state: 'ACTIVE', page_size: 200 });
  const person = known.people.find((p) => p.id === id);
  const held = (holds.data?.data ?? []).some((h) => !h.subject_id || h.subject_id === id);
  return (
    <div className="audit-filters">
      <FormGroup label={t('erasures.who')} fieldId="er-who">
        <FormSelect id="er-who" value={id} onChange={(_e, v) => setId(v)}>
          <FormSelectOption value="" label={t('erasures.choose')} />
          {known.people.map((p) => (
            <FormSelectOption key={p.id} value={p.id} label={p.name} />
          ))}
        </FormSelect>
      </FormGroup>
      <EraseButton
        id={id}
        name={person?.name ?? id}
        why={id === '' ? t('erasures.choose') : held ? t('erasures.held') : ''}
        onDone={() => setId('')}
      />
      {id !== '' && <To to={`/audit/persons/${id}`}>{t('kept.show')}</To>}
    </div>
  );
}

export function Certificates({ zone }: { zone?: string }) {
  const { t } = useTranslation();
  return (
    <ServerTable
      path="/v1/erasure-certificates"
      label={t('erasures.certificates')}
      prefix="c_"
      rowKey={(c) => c.certificate_id!}
      {...(zone ? { fixed: {} } : {})}
      columns={[
        { name: 'zone', label: t('col.zone'), cell: (c) => <Code>{c.zone}</Code> },
        { name: 'key_version', label: t('col.version'), cell: (c) => number(c.key_version) },
        { name: 'objects', label: t('erasures.objects'), cell: (c) => number(c.objects) },
        { name: 'destroyed_at', label: t('erasures.destroyed'), cell: (c) => <Time at={c.destroyed_at} /> },
        { name: 'backups_until', label: t('erasures.backups'), cell: (c) => <Time at={c.backups_until} /> },
        { name: 'certificate_id', label: t('col.id'), cell: (c) => <Id value={c.certificate_id} /> },
      ]}
      rowActions={(c) => (
        <Button
          variant="link"
          isInline
          onClick={() => saveAs(`${c.certificate_id}.json`, `${JSON.stringify(c, null, 2)}\n`, 'application/json')}
        >
          {t('act.download')}
        </Button>
      )}
      empty={
        <Empty
          title={t('erasures.noCertificates')}
          body={t('erasures.certificatesBody')}
          cli="falaj key certificates"
        />
      }
    />
  );
}

export function Erasures() {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Frame
      part="audit.erasures"
      lead={t('erasures.lead')}
      api={['GET /v1/audit/erasures', 'POST /v1/audit/erasures', 'GET /v1/erasure-certificates']}
      cli={['falaj key certificates']}
    >
      <Ask />
      <ServerTable
        path="/v1/audit/erasures"
        label={t('audit.erasures')}
        rowKey={(e) => e.user_id!}
        columns={[
          {
            name: 'user_id',
            label: t('erasures.who'),
            cell: (e) => <To to={`/audit/persons/${e.user_id!}`}>{e.user_id}</To>,
          },
          { name: 'erased_at', label: t('erasures.when'), cell: (e) => <Time at={e.erased_at} /> },
          {
            name: 'had_fields',
            label: t('erasures.had'),
            cell: (e) => t(e.had_fields ? 'erasures.yes' : 'erasures.no'),
          },
        ]}
        empty={<Empty title={t('erasures.none')} body={t('erasures.lead')} />}
      />
      {can('key:read') && (
        <>
          <h2 className="block">{t('erasures.certificates')}</h2>
          <Certificates />
        </>
      )}
    </Frame>
  );
}
