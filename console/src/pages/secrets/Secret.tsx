// SPDX-License-Identifier: Apache-2.0
// Secret.tsx - one secret: how it stands, the jobs that name it, and when it was given values; never a value.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { useNames } from '../members/names.ts';
import { Code, Id, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { PageTabs, type Part } from '../../ui/tabs.tsx';
import { SecretActs } from './Secrets.tsx';

function Uses({ id }: { id: string }) {
  const { t } = useTranslation();
  return (
    <ServerTable
      path={`/v1/secrets/${encodeURIComponent(id)}/uses`}
      label={t('secrets.uses')}
      rowKey={(u) => u.job_id}
      rowName={(u) => u.job_name}
      columns={[
        {
          name: 'job_name',
          label: t('secrets.job'),
          cell: (u) => (
            <To to={`/jobs/${u.job_id}`}>
              <Name>{u.job_name}</Name>
            </To>
          ),
        },
        { name: 'state', label: t('col.state'), cell: (u) => <State value={u.state} /> },
        { name: 'target', label: t('secrets.target'), cell: (u) => <Code>{u.target}</Code> },
        { name: 'value_version', label: t('col.version'), narrow: true, cell: (u) => number(u.value_version) },
        { name: 'submitted_at', label: t('secrets.submitted'), cell: (u) => <Time at={u.submitted_at} /> },
      ]}
      empty={<Empty title={t('secrets.noUse')} body={t('secrets.noUseBody')} />}
    />
  );
}

function Versions({ id }: { id: string }) {
  const { t } = useTranslation();
  const names = useNames();
  return (
    <ServerTable
      path={`/v1/secrets/${encodeURIComponent(id)}/versions`}
      label={t('secrets.versions')}
      rowKey={(v) => String(v.value_version)}
      columns={[
        { name: 'value_version', label: t('col.version'), narrow: true, cell: (v) => number(v.value_version) },
        { name: 'created_at', label: t('secrets.setAt'), cell: (v) => <Time at={v.created_at} /> },
        {
          name: 'created_by',
          label: t('secrets.setBy'),
          cell: (v) => v.created_by && <bdi>{names.user(v.created_by)}</bdi>,
        },
      ]}
      empty={<Empty title={t('secrets.noValue')} body={t('secrets.noValueBody')} cli={`falaj secret set ${id}`} />}
    />
  );
}

export function SecretDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/secrets/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {});
  const name = query.data?.name ?? id;
  const parts: Part[] = [
    { id: 'uses', title: t('secrets.uses'), body: () => <Uses id={id} /> },
    { id: 'versions', title: t('secrets.versions'), body: () => <Versions id={id} /> },
  ];
  return (
    <Page
      name={name}
      title={<Code>{name}</Code>}
      crumbs={[[t('nav.secrets'), '/secrets']]}
      actions={
        query.data &&
        can('secret:manage') && <SecretActs secret={query.data} gone={() => void navigate({ to: '/secrets' })} />
      }
      api={[`GET ${path}`, `GET ${path}/uses`]}
      cli={[`falaj secret get ${id}`, `falaj secret uses ${id}`]}
    >
      <Answer of={query}>
        {(s) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), <State key="state" value={s.state} />],
                [t('col.description'), <Name key="description">{s.description}</Name>],
                [t('col.zone'), <Code key="zone">{s.zone}</Code>],
                [t('col.version'), s.latest_version ? number(s.latest_version) : t('secrets.noValue')],
                [t('secrets.lastUsed'), s.last_used_at ? <Time key="used" at={s.last_used_at} /> : t('secrets.never')],
                [t('col.created'), <Time key="created" at={s.created_at} />],
                [t('col.id'), <Id key="id" value={s.secret_id} />],
              ]}
            />
            <PageTabs parts={parts} label={name} />
          </>
        )}
      </Answer>
    </Page>
  );
}
