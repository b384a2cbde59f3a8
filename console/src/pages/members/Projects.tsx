// SPDX-License-Identifier: Apache-2.0
// Projects.tsx - the projects of the organisation: made, renamed, closed.
import { useTranslation } from 'react-i18next';
import { PROJECT_LIST_STATE } from '../../api/gen/enums.ts';
import { change, get, withQuery, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Id, State, Time } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { useNameFilter } from '../../ui/table/usual.ts';
import { useNames } from './names.ts';
import './members.css';
import { RenameButton, useNameFields } from '../../ui/naming.tsx';

type Project = Schemas['project'];

export function Projects() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const names = useNames();
  const filters: Filter[] = [
    useNameFilter(),
    {
      name: 'state',
      label: t('col.state'),
      options: PROJECT_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    {
      name: 'sort',
      label: t('list.order'),
      options: [
        { value: '-created', label: t('list.newest') },
        { value: 'name', label: t('col.name') },
      ],
    },
  ];
  const fields = formFields(
    { name: 'name', label: t('col.short'), required: true, pattern: SLUG, help: t('projects.shortHelp') },
    ...useNameFields(),
  );
  const create = can('project:manage') && (
    <FormButton
      label={t('projects.create')}
      title={t('projects.create')}
      opens="project"
      fields={fields}
      onSubmit={async (v) => {
        await change('POST', '/v1/projects', bodyOf(fields, v));
        await forget('/v1/projects');
      }}
    />
  );
  return (
    <Page
      name={t('nav.projects')}
      title={t('nav.projects')}
      actions={create}
      api={[`GET ${withQuery('/v1/projects', useListSearch(filters))}`]}
      cli={['falaj project list', 'falaj project create NAME']}
    >
      <ServerTable
        path="/v1/projects"
        label={t('nav.projects')}
        filters={filters}
        rowKey={(p) => p.project_id!}
        columns={[
          { name: 'name', label: t('col.short'), cell: (p) => <Code>{p.name}</Code> },
          { name: 'display_name', label: t('col.shown'), cell: (p) => <Called of={p} /> },
          { name: 'state', label: t('col.state'), cell: (p) => <State value={p.state} /> },
          {
            name: 'created_by',
            label: t('projects.by'),
            cell: (p) => (p.created_by ? <bdi>{names.user(p.created_by)}</bdi> : null),
          },
          { name: 'created_at', label: t('col.created'), cell: (p) => <Time at={p.created_at} ago /> },
          { name: 'project_id', label: t('col.id'), cell: (p) => <Id value={p.project_id} /> },
        ]}
        {...(can('project:manage')
          ? {
              rowName: (p: Project) => titleOf(p),
              bulk: [
                {
                  label: t('projects.close'),
                  danger: true,
                  confirm: t('bulk.projects'),
                  fits: (p: Project) => p.state === 'ACTIVE',
                  run: (p: Project) =>
                    change('POST', `/v1/projects/${p.project_id!}/close`, undefined, { 'if-match': `"v${p.version}"` }),
                },
              ],
              rowActions: (p: Project) =>
                p.state !== 'ACTIVE' ? null : (
                  <span className="acts">
                    <RenameButton
                      variant="link"
                      of={p}
                      before={fields.slice(0, 1)}
                      lock={{ read: () => get(`/v1/projects/${p.project_id!}`), was: { ...p } }}
                      forgets="/v1/projects"
                      save={(body, tag) => change('PATCH', `/v1/projects/${p.project_id!}`, body, { 'if-match': tag })}
                    />
                    <TypedConfirm
                      variant="link"
                      label={t('projects.close')}
                      title={t('projects.close')}
                      name={p.name ?? ''}
                      effect={t('projects.closeEffect')}
                      onConfirm={async () => {
                        await change('POST', `/v1/projects/${p.project_id!}/close`, undefined, {
                          'if-match': `"v${p.version}"`,
                        });
                        await forget('/v1/projects');
                      }}
                    />
                  </span>
                ),
            }
          : {})}
        empty={
          <Empty
            title={t('projects.none')}
            body={t('projects.noneBody')}
            action={create}
            cli="falaj project create NAME"
          />
        }
      />
    </Page>
  );
}
