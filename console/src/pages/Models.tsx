// SPDX-License-Identifier: Apache-2.0
// Models.tsx - registered models: the list, one with its versions and where they come from.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Page as ListOf, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import { bytes, number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Id, Name, Pairs, shortId, Time, To } from '../ui/bits.tsx';
import { FormButton } from '../ui/dialogs.tsx';
import { bodyOf, SLUG, type Field } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch } from '../ui/table.tsx';

type Model = Schemas['model'];
type Version = Schemas['model_version'];

export function Models() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const forget = useForget();
  const done = useGet<ListOf<Schemas['job']>>(
    '/v1/jobs',
    { state: 'COMPLETED', kind: 'train', page_size: 100 },
    { enabled: can('model:write') && can('job:read') },
  );
  const fields: Field[] = [
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, help: t('models.nameHelp') },
    { name: 'description', label: t('col.description'), kind: 'area', max: 1024 },
    {
      name: 'job_id',
      label: t('models.job'),
      kind: 'select',
      required: true,
      options: (done.data?.data ?? []).map((j) => ({ value: j.job_id!, label: `${j.name!} · ${shortId(j.job_id)}` })),
    },
  ];
  const register = can('model:write') && (done.data?.data.length ?? 0) > 0 && (
    <FormButton
      label={t('models.register')}
      title={t('models.register')}
      fields={fields}
      onSubmit={async (v) => {
        const made = await change<Version>('POST', '/v1/models', bodyOf(fields, v));
        await forget('/v1/models');
        await navigate({ to: `/models/${made.model_id!}` });
      }}
    />
  );
  return (
    <Page
      name={t('nav.models')}
      title={t('nav.models')}
      actions={register}
      api={[`GET ${withQuery('/v1/models', useListSearch())}`]}
      cli={['falaj model list', 'falaj model register NAME JOB']}
    >
      <ServerTable<Model>
        path="/v1/models"
        label={t('nav.models')}
        rowKey={(m) => m.model_id!}
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            cell: (m) => (
              <To to={`/models/${m.model_id!}`}>
                <Name>{m.name}</Name>
              </To>
            ),
          },
          { name: 'description', label: t('col.description'), cell: (m) => <Name>{m.description}</Name> },
          { name: 'latest_version', label: t('col.latest'), cell: (m) => number(m.latest_version) },
          { name: 'created_at', label: t('col.created'), cell: (m) => <Time at={m.created_at} ago /> },
        ]}
        empty={
          <Empty
            title={t('models.empty')}
            body={t('models.emptyBody')}
            action={register}
            cli="falaj model register NAME JOB"
          />
        }
      />
    </Page>
  );
}

export function ModelDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const navigate = useNavigate();
  const forget = useForget();
  const path = `/v1/models/${encodeURIComponent(id)}`;
  const query = useGet<Model>(path);
  const m = query.data;
  const fields: Field[] = [
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, help: t('deploy.nameHelp') },
    { name: 'model_version', label: t('col.version'), kind: 'number', min: 0, help: t('deploy.versionHelp') },
    { name: 'slots', label: t('col.slots'), kind: 'number', min: 1, max: 4096 },
  ];
  return (
    <Page
      name={m?.name ?? t('nav.models')}
      title={<Name>{m?.name ?? id}</Name>}
      lead={m?.description && <bdi>{m.description}</bdi>}
      crumbs={[[t('nav.models'), '/models']]}
      api={[`GET ${path}`, `GET ${path}/versions`]}
      cli={[`falaj model versions ${m?.name ?? id}`]}
      actions={
        m &&
        can('deployment:write') && (
          <FormButton
            label={t('deploy.create')}
            title={t('deploy.create')}
            fields={fields}
            initial={{ name: m.name ?? '' }}
            onSubmit={async (v) => {
              const made = await change<Schemas['deployment']>('POST', '/v1/deployments', {
                ...bodyOf(fields, v),
                model_id: id,
              });
              await forget('/v1/deployments');
              await navigate({ to: `/deployments/${made.deployment_id!}` });
            }}
          />
        )
      }
    >
      <Answer of={query}>
        {(x) => (
          <>
            <Pairs
              rows={[
                [t('col.id'), <Id key="i" value={x.model_id} />],
                [t('col.created'), <Time key="t" at={x.created_at} />],
              ]}
            />
            <h2 className="block">{t('datasets.versions')}</h2>
            <ServerTable<Version>
              path={`${path}/versions`}
              label={t('datasets.versions')}
              rowKey={(v) => String(v.version)}
              columns={[
                { name: 'version', label: t('col.version'), cell: (v) => number(v.version) },
                {
                  name: 'job_id',
                  label: t('models.job'),
                  cell: (v) =>
                    can('job:read') ? (
                      <To to={`/jobs/${v.job_id!}`}>
                        <Code>{shortId(v.job_id)}</Code>
                      </To>
                    ) : (
                      <Code>{shortId(v.job_id)}</Code>
                    ),
                },
                {
                  name: 'metrics',
                  label: t('job.metrics'),
                  cell: (v) => (
                    <span>
                      {Object.entries((v.metrics ?? {}) as Record<string, unknown>)
                        .filter(([, n]) => typeof n === 'number')
                        .slice(0, 3)
                        .map(([k, n]) => (
                          <Code key={k}>{`${k} ${number(n as number, 4)} `}</Code>
                        ))}
                    </span>
                  ),
                },
                { name: 'size_bytes', label: t('col.size'), cell: (v) => bytes(v.size_bytes) },
                { name: 'zone', label: t('col.zone'), cell: (v) => <Code>{v.zone}</Code> },
                { name: 'created_at', label: t('col.created'), cell: (v) => <Time at={v.created_at} ago /> },
              ]}
              empty={<Empty title={t('models.empty')} body={t('models.emptyBody')} />}
            />
          </>
        )}
      </Answer>
    </Page>
  );
}
