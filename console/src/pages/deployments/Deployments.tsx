// SPDX-License-Identifier: Apache-2.0
// Deployments.tsx - what is served: the list, whose states follow the stream, and the dialog that serves one more.
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { commandLine } from '../../lib/calls.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Name, shortId, State, Time, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { BY_NAME, BY_TIME, useNameFilter, useOwnFilters } from '../../ui/table/usual.ts';
import { titleOf } from '../../lib/titles.ts';

/** model: the one that is served; absent: it is picked in the dialog. */
export function DeployButton({
  model,
  version,
  variant = 'primary',
}: {
  model?: Schemas['model'];
  version?: number;
  variant?: 'primary' | 'link';
}) {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const forget = useForget();
  const may = can('deployment:write');
  const models = useGet('/v1/models', { page_size: 200 }, { enabled: may && model === undefined && can('model:read') });
  if (!may || (model === undefined && (models.data?.data.length ?? 0) === 0)) return null;
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, max: 63, help: t('deploy.nameHelp') },
    ...(model === undefined
      ? [
          {
            name: 'model_id',
            label: t('col.model'),
            kind: 'select' as const,
            required: true,
            options: models.data!.data.map((m) => ({ value: m.model_id!, label: titleOf(m) })),
          },
        ]
      : []),
    { name: 'model_version', label: t('col.version'), kind: 'number', min: 0, help: t('deploy.versionHelp') },
    { name: 'slots', label: t('col.slots'), kind: 'number', min: 1, max: 4096 },
  );
  return (
    <FormButton
      {...(model === undefined ? { opens: 'deployment' } : {})}
      label={t('deploy.create')}
      title={t('deploy.create')}
      variant={variant}
      fields={fields}
      initial={{ name: model?.name ?? '', ...(version === undefined ? {} : { model_version: String(version) }) }}
      lead={<p>{t('deploy.where')}</p>}
      onSubmit={async (v) => {
        const body = bodyOf(fields, v);
        const made = await change('POST', '/v1/deployments', {
          ...body,
          model_id: model?.model_id ?? body.model_id ?? '',
        });
        await forget('/v1/deployments');
        await navigate({ to: `/deployments/${made.deployment_id!}` });
      }}
    />
  );
}

export function Deployments() {
  const { t } = useTranslation();
  const { can } = useSession();
  const models = useGet('/v1/models', { page_size: 200 }, { enabled: can('model:read') });
  const called = (id: string | undefined): ReactNode => {
    const model = models.data?.data.find((m) => m.model_id === id);
    return model && <Called of={model} />;
  };
  const filters: Filter[] = [
    useNameFilter(),
    {
      name: 'ready',
      label: t('deploy.answers'),
      options: [
        { value: 'true', label: t('deploy.answersYes') },
        { value: 'false', label: t('deploy.answersNo') },
      ],
    },
    ...useOwnFilters(),
  ];
  const query = useListSearch(filters);
  return (
    <Page
      name={t('nav.deployments')}
      title={t('nav.deployments')}
      actions={<DeployButton />}
      api={[`GET ${withQuery('/v1/deployments', query)}`]}
      cli={[
        commandLine('falaj deploy list', {
          q: query['q'],
          ready: query['ready'],
          project: query['project_id'],
          'created-by': query['created_by'],
          sort: query['sort'],
        }),
        'falaj deploy create NAME MODEL --wait',
      ]}
    >
      <ServerTable
        path="/v1/deployments"
        label={t('nav.deployments')}
        live={['deployments']}
        filters={filters}
        rowKey={(d) => d.deployment_id!}
        rowName={(d) => d.name!}
        bulk={
          can('deployment:write')
            ? [
                {
                  label: t('deploy.delete'),
                  danger: true,
                  confirm: t('bulk.deployments'),
                  run: (d) => change('DELETE', `/v1/deployments/${d.deployment_id!}`),
                },
              ]
            : []
        }
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            sort: BY_NAME,
            cell: (d) => (
              <To to={`/deployments/${d.deployment_id!}`}>
                <Name>{d.name}</Name>
              </To>
            ),
          },
          { name: 'state', label: t('col.state'), cell: (d) => <State value={d.ready ? 'READY' : d.job_state} /> },
          {
            name: 'model_id',
            label: t('col.model'),
            cell: (d) =>
              can('model:read') ? (
                <To to={`/models/${d.model_id!}`}>{called(d.model_id) ?? <Code>{shortId(d.model_id)}</Code>}</To>
              ) : (
                <Code>{shortId(d.model_id)}</Code>
              ),
          },
          { name: 'model_version', label: t('col.version'), cell: (d) => number(d.model_version) },
          { name: 'created_at', label: t('col.created'), sort: BY_TIME, cell: (d) => <Time at={d.created_at} ago /> },
          { name: 'deployment_id', label: t('col.id'), cell: (d) => <Code>{d.deployment_id}</Code>, extra: true },
        ]}
        empty={
          <Empty
            title={t('overview.noDeployments')}
            body={t('deploy.emptyBody')}
            action={<To to="/models">{t('nav.models')}</To>}
            cli="falaj deploy create NAME MODEL --wait"
          />
        }
      />
    </Page>
  );
}
