// SPDX-License-Identifier: Apache-2.0
// Datasets.tsx - the data sets there are, and a new one.
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { DATASET_NEW_DATA_CLASS, DATASET_NEW_TARGET } from '../../api/gen/enums.ts';
import { change, withQuery } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { commandLine } from '../../lib/calls.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { useNames } from '../members/names.ts';
import { Called, Code, Name, Time, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { BY_NAME, BY_TIME, useNameFilter, useOwnFilters, useZoneFilter } from '../../ui/table/usual.ts';
import { titleOf } from '../../lib/titles.ts';
import { useNameFields } from '../../ui/naming.tsx';

const CLASSES = DATASET_NEW_DATA_CLASS;
const TARGETS = DATASET_NEW_TARGET;

export function Datasets() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const forget = useForget();
  const names = useNames();
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const among = (projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) }));
  const filters: Filter[] = [
    useNameFilter(),
    {
      name: 'data_class',
      label: t('col.class'),
      options: CLASSES.map((c) => ({ value: c, label: t(`class.${c}`) })),
    },
    ...useOwnFilters(),
    ...useZoneFilter(),
  ];
  const query = useListSearch(filters);
  const fields = formFields(
    { name: 'name', label: t('col.short'), required: true, pattern: SLUG, max: 63, help: t('field.slug') },
    ...useNameFields(),
    { name: 'description', label: t('col.description'), kind: 'area', max: 1024 },
    {
      name: 'data_class',
      label: t('col.class'),
      kind: 'select',
      options: CLASSES.map((c) => ({ value: c, label: t(`class.${c}`) })),
      help: t('datasets.classHelp'),
    },
    {
      name: 'target',
      label: t('datasets.target'),
      kind: 'select',
      options: TARGETS.map((c) => ({ value: c, label: t(`datasets.target_${c}`) })),
    },
    { name: 'label_column', label: t('col.label'), required: true, max: 128, help: t('datasets.labelHelp') },
    {
      name: 'classes',
      label: t('col.classes'),
      kind: 'number',
      min: 0,
      max: 65536,
      help: t('datasets.classesHelp'),
    },
    { name: 'words', label: t('datasets.categories'), max: 4096, help: t('datasets.categoriesHelp') },
    { name: 'missing_values', label: t('datasets.missing'), kind: 'check' },
    ...(among.length > 0
      ? [
          {
            name: 'project_id',
            label: t('submit.f_project_id'),
            kind: 'select' as const,
            options: [{ value: '', label: t('submit.noProject') }, ...among],
          },
        ]
      : []),
  );
  const create = can('dataset:write') && (
    <FormButton
      opens="dataset"
      label={t('nav.newDataset')}
      title={t('nav.newDataset')}
      fields={fields}
      initial={{ label_column: 'label', data_class: 'internal', target: 'class' }}
      onSubmit={async (v) => {
        const { words, ...body } = bodyOf(fields, v);
        const names = (words ?? '').split(/[,،]/).map((w) => w.trim());
        const made = await change('POST', '/v1/datasets', { ...body, category_columns: names.filter((w) => w !== '') });
        await forget('/v1/datasets');
        await navigate({ to: `/datasets/${made.dataset_id!}` });
      }}
    />
  );
  return (
    <Page
      name={t('nav.datasets')}
      title={t('nav.datasets')}
      actions={create}
      api={[`GET ${withQuery('/v1/datasets', query)}`]}
      cli={[
        commandLine('falaj dataset list', {
          q: query['q'],
          class: query['data_class'],
          zone: query['zone'],
          project: query['project_id'],
          'created-by': query['created_by'],
          sort: query['sort'],
        }),
      ]}
    >
      <ServerTable
        path="/v1/datasets"
        label={t('nav.datasets')}
        filters={filters}
        rowKey={(d) => d.dataset_id!}
        rowName={(d) => titleOf(d)}
        bulk={
          can('dataset:write')
            ? [
                {
                  label: t('datasets.delete'),
                  danger: true,
                  confirm: t('datasets.deleteMany'),
                  run: (d) => change('DELETE', `/v1/datasets/${d.dataset_id!}`),
                },
              ]
            : []
        }
        columns={[
          {
            name: 'display_name',
            label: t('col.name'),
            sort: BY_NAME,
            cell: (d) => (
              <To to={`/datasets/${d.dataset_id!}`}>
                <Called of={d} />
              </To>
            ),
          },
          { name: 'data_class', label: t('col.class'), cell: (d) => t(`class.${d.data_class!}`) },
          { name: 'classes', label: t('col.classes'), cell: (d) => number(d.classes) },
          {
            name: 'latest_version',
            label: t('col.latest'),
            cell: (d) => (d.latest_version > 0 ? number(d.latest_version) : t('datasets.noVersion')),
          },
          {
            name: 'created_by',
            label: t('datasets.by'),
            cell: (d) => <Name>{names.user(d.created_by ?? '')}</Name>,
          },
          { name: 'created_at', label: t('col.created'), sort: BY_TIME, cell: (d) => <Time at={d.created_at} ago /> },
          { name: 'name', label: t('col.short'), cell: (d) => <Code>{d.name}</Code>, extra: true },
          { name: 'description', label: t('col.description'), cell: (d) => <Name>{d.description}</Name>, extra: true },
          { name: 'label_column', label: t('col.label'), cell: (d) => <Code>{d.label_column}</Code>, extra: true },
          { name: 'dataset_id', label: t('col.id'), cell: (d) => <Code>{d.dataset_id}</Code>, extra: true },
        ]}
        empty={
          <Empty
            title={t('datasets.empty')}
            body={t('datasets.emptyBody')}
            action={create}
            cli="falaj dataset create NAME --label label --classes 10"
          />
        }
      />
    </Page>
  );
}
