// SPDX-License-Identifier: Apache-2.0
// Environment.tsx - one image: how its import stands, its packages and layers, and the jobs that run in it.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Id, Name, Pairs, shortId, State, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { PageTabs, type Part } from '../../ui/tabs.tsx';
import { EnvironmentActs } from './Environments.tsx';

type PackagesPath = `/v1/environments/${string}/packages` | `/v1/shared-environments/${string}/packages`;
export function Packages({ path }: { path: PackagesPath }) {
  const { t } = useTranslation();
  return (
    <ServerTable
      path={path}
      label={t('environments.packages')}
      rowKey={(p) => String(p.number)}
      rowName={(p) => p.name}
      columns={[
        { name: 'name', label: t('environments.package'), cell: (p) => <Code>{p.name}</Code> },
        { name: 'version', label: t('col.version'), cell: (p) => <Code>{p.version}</Code> },
        { name: 'architecture', label: t('environments.architecture'), cell: (p) => <Code>{p.architecture}</Code> },
      ]}
      empty={<Empty title={t('environments.noPackage')} body={t('environments.noPackageBody')} />}
    />
  );
}

function Uses({ id }: { id: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <ServerTable
      path={`/v1/environments/${encodeURIComponent(id)}/uses`}
      label={t('environments.uses')}
      rowKey={(u) => u.job_id}
      rowName={(u) => u.job_name}
      columns={[
        {
          name: 'job_name',
          label: t('environments.job'),
          cell: (u) =>
            can('job:read') ? (
              <To to={`/jobs/${u.job_id}`}>
                <Name>{u.job_name}</Name>
              </To>
            ) : (
              <Name>{u.job_name}</Name>
            ),
        },
        { name: 'state', label: t('col.state'), cell: (u) => <State value={u.state} /> },
        { name: 'submitted_at', label: t('environments.submitted'), cell: (u) => <Time at={u.submitted_at} /> },
      ]}
      empty={<Empty title={t('environments.noUse')} body={t('environments.noUseBody')} />}
    />
  );
}

export function EnvironmentDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/environments/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {}, { everyMs: 5_000 }); // an import ends behind the reader's back
  const setId = query.data?.dataset_id;
  const set = useGet(
    `/v1/datasets/${encodeURIComponent(setId ?? '')}`,
    {},
    { enabled: setId !== undefined && can('dataset:read') },
  );
  const name = query.data?.name ?? id;
  const parts: Part[] = [
    { id: 'packages', title: t('environments.packages'), body: () => <Packages path={`${path}/packages`} /> },
    { id: 'uses', title: t('environments.uses'), body: () => <Uses id={id} /> },
  ];
  return (
    <Page
      name={name}
      title={<Code>{name}</Code>}
      crumbs={[[t('nav.environments'), '/environments']]}
      actions={
        query.data &&
        can('environment:manage') && (
          <EnvironmentActs environment={query.data} gone={() => void navigate({ to: '/environments' })} />
        )
      }
      api={[`GET ${path}`, `GET ${path}/packages`, `GET ${path}/uses`]}
      cli={[`falaj environment get ${id}`, `falaj environment packages ${id}`]}
    >
      <Answer of={query}>
        {(v) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), <State key="state" value={v.state} />],
                [
                  t('environments.reason'),
                  v.reason && (
                    <bdi key="reason" lang="en" dir="ltr">
                      {v.reason}
                    </bdi>
                  ),
                ],
                [t('col.description'), v.description && <Name key="description">{v.description}</Name>],
                [t('environments.digest'), <Code key="digest">{v.digest}</Code>],
                [
                  t('environments.signedBy'),
                  v.signed_by ? <Code key="by">{v.signed_by}</Code> : t('environments.unsigned'),
                ],
                [t('environments.offered'), v.offered_at && <Time key="offered" at={v.offered_at} />],
                [t('environments.size'), v.unpacked_bytes > 0 && bytes(v.unpacked_bytes)],
                [t('environments.files'), v.files > 0 && number(v.files)],
                [t('col.zone'), <Code key="zone">{v.zone}</Code>],
                [t('environments.pulledFrom'), v.pulled_from && <Code key="from">{v.pulled_from}</Code>],
                [
                  t('environments.archive'),
                  v.dataset_id &&
                    (can('dataset:read') ? (
                      <To key="set" to={`/datasets/${v.dataset_id}`}>
                        {set.data ? <Called of={set.data} /> : <Code>{shortId(v.dataset_id)}</Code>}
                      </To>
                    ) : (
                      <Code key="set">{shortId(v.dataset_id)}</Code>
                    )),
                ],
                [
                  t('environments.importJob'),
                  can('job:read') ? (
                    <To key="job" to={`/jobs/${v.job_id}`}>
                      <Code>{shortId(v.job_id)}</Code>
                    </To>
                  ) : (
                    <Code key="job">{shortId(v.job_id)}</Code>
                  ),
                ],
                [t('environments.imported'), <Time key="created" at={v.created_at} />],
                [t('col.id'), <Id key="id" value={v.environment_id} />],
              ]}
            />
            <PageTabs parts={parts} label={name} />
          </>
        )}
      </Answer>
    </Page>
  );
}
