// SPDX-License-Identifier: Apache-2.0
// Approvals.tsx - what waits for a second person, with exactly what it asks for.
import { useTranslation } from 'react-i18next';
import { APPROVAL_LIST_STATE } from '../api/gen/enums.ts';
import { change, withQuery, type Schemas } from '../api/client.ts';
import { useForget } from '../api/hooks.ts';
import { useLive } from '../api/live.ts';
import { dateTime, number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Name, State, Time } from '../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../ui/dialogs.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../ui/table.tsx';
import { Asked, Exactly } from './approvals/Asked.tsx';
import { Person } from './audit/Person.tsx';
import { useKnown } from './audit/words.ts';

type Approval = Schemas['approval'];
const STATES = APPROVAL_LIST_STATE;

const words = (a: Approval): string => `approvals.kind_${(a.kind ?? '').replaceAll('.', '_')}`;

export function Approvals() {
  const { t, i18n } = useTranslation();
  const { me, can } = useSession();
  const forget = useForget();
  const known = useKnown();
  useLive(['approvals'], ['/v1/approvals']);
  const approver = ['tenant', 'residency', 'key', 'hold', 'role'].some((k) => can(`approval:${k}`)) || can('key:root');
  const filters: Filter[] = [
    { name: 'state', label: t('col.state'), options: STATES.map((s) => ({ value: s, label: t(`value.${s}`) })) },
  ];
  /** Why the reader's approval would not count, before anything is pressed. */
  const reasonNot = (a: Approval): { why?: string } => {
    if (a.requested_by === me.user_id) return { why: t('approvals.own') };
    if (a.counts !== false) return {};
    const word = `approvals.why_${a.why_not ?? ''}`;
    const why = i18n.exists(word) ? t(word) : (a.why_not_text ?? '');
    return { why: a.counts_from ? `${why}. ${t('approvals.countsFrom', { when: dateTime(a.counts_from) })}` : why };
  };
  const decide = async (a: Approval, how: 'approve' | 'refuse', note: string): Promise<void> => {
    await change('POST', `/v1/approvals/${a.approval_id!}/${how}`, note ? { note } : {});
    await forget('/v1/approvals');
  };
  return (
    <Page
      name={t('nav.approvals')}
      title={t('nav.approvals')}
      lead={t('approvals.lead')}
      api={[`GET ${withQuery('/v1/approvals', useListSearch(filters))}`]}
      cli={['falaj approval list', 'falaj approval approve APPROVAL']}
    >
      <ServerTable
        path="/v1/approvals"
        label={t('nav.approvals')}
        filters={filters}
        rowKey={(a) => a.approval_id!}
        columns={[
          {
            name: 'kind',
            label: t('approvals.what'),
            cell: (a) => (
              <>
                {i18n.exists(words(a)) ? t(words(a)) : <Code>{a.kind}</Code>} <Name>{a.subject}</Name>
                <br />
                <Asked of={a} title={i18n.exists(words(a)) ? t(words(a)) : (a.kind ?? '')} />
              </>
            ),
          },
          {
            name: 'requested_by',
            label: t('approvals.by'),
            cell: (a) =>
              a.requested_by === me.user_id ? <Name>{me.name}</Name> : <Person id={a.requested_by} known={known} />,
          },
          { name: 'state', label: t('col.state'), cell: (a) => <State value={a.state} /> },
          { name: 'reason', label: t('col.reason'), cell: (a) => <Name>{a.reason}</Name> },
          {
            name: 'given',
            label: t('approvals.given'),
            cell: (a) => (
              <>
                {t('overview.of', { used: number(a.given), limit: number(a.needed) })}
                {a.state === 'PENDING' && (
                  <div className="lead">{t('approvals.more', { count: a.needed - a.given })}</div>
                )}
              </>
            ),
          },
          { name: 'created_at', label: t('col.created'), cell: (a) => <Time at={a.created_at} ago /> },
          { name: 'expires_at', label: t('tokens.expires'), cell: (a) => <Time at={a.expires_at} ago /> },
        ]}
        rowActions={(a) =>
          a.state !== 'PENDING' ? null : (
            <>
              {approver && (
                <TypedConfirm
                  variant="secondary"
                  reason
                  label={t('approvals.approve')}
                  title={t('approvals.approve')}
                  name={a.subject ?? a.kind ?? ''}
                  effect={
                    <>
                      <p>{t('approvals.effect')}</p>
                      <Exactly of={a} />
                    </>
                  }
                  {...reasonNot(a)}
                  onConfirm={(note) => decide(a, 'approve', note)}
                />
              )}
              {(approver || a.requested_by === me.user_id) && (
                <FormButton
                  variant="link"
                  label={a.requested_by === me.user_id ? t('approvals.withdraw') : t('approvals.refuse')}
                  title={t('approvals.refuse')}
                  fields={[{ name: 'note', label: t('confirm.reason'), kind: 'area', max: 512 }]}
                  onSubmit={(v) => decide(a, 'refuse', String(v['note'] ?? ''))}
                />
              )}
            </>
          )
        }
        empty={<Empty title={t('overview.noApprovals')} body={t('approvals.lead')} cli="falaj approval list" />}
      />
    </Page>
  );
}
