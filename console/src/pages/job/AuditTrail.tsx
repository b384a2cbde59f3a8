// SPDX-License-Identifier: Apache-2.0
// AuditTrail.tsx - who did what to this job, from the audit log.
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { Code, Name, shortId, State, Time, To } from '../../ui/bits.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';

export function AuditTrail({ id }: { id: string }) {
  const { t } = useTranslation();
  return (
    <>
      <ServerTable
        path="/v1/audit/events"
        label={t('job.audit')}
        fixed={{ resource: id }}
        prefix="audit_"
        rowKey={(i) => String(i.tseq)}
        after={(i) => String(i.tseq)}
        columns={[
          { name: 'tseq', label: t('audit.number'), cell: (i) => number(i.tseq) },
          { name: 'at', label: t('col.at'), cell: (i) => <Time at={i.at} /> },
          { name: 'action', label: t('audit.action'), narrow: true, cell: (i) => <Code>{i.action}</Code> },
          {
            name: 'actor_name',
            label: t('audit.actor'),
            cell: (i) =>
              i.actor_name ? <Name>{i.actor_name}</Name> : <Code>{shortId(i.actor_id) || i.actor_kind}</Code>,
          },
          { name: 'outcome', label: t('audit.outcome'), cell: (i) => <State value={i.outcome} /> },
          { name: 'request_id', label: t('state.requestId'), extra: true, cell: (i) => <Code>{i.request_id}</Code> },
        ]}
        empty={
          <Empty title={t('audit.empty')} body={t('job.auditEmpty')} cli={`falaj audit events --resource ${id}`} />
        }
      />
      <p className="block">
        <To to={`/audit?resource=${id}`}>{t('job.auditAll')}</To>
      </p>
    </>
  );
}
