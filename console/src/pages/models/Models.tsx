// SPDX-License-Identifier: Apache-2.0
// Models.tsx - the registered models.
import { useTranslation } from 'react-i18next';
import { change, withQuery } from '../../api/client.ts';
import { commandLine } from '../../lib/calls.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Name, Time, To } from '../../ui/bits.tsx';
import { useNames } from '../members/names.ts';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { BY_NAME, BY_TIME, useNameFilter, useOwnFilters, useZoneFilter } from '../../ui/table/usual.ts';
import { RegisterButton } from './Register.tsx';
import { titleOf } from '../../lib/titles.ts';

export function Models() {
  const { t } = useTranslation();
  const { can } = useSession();
  const names = useNames();
  const filters: Filter[] = [useNameFilter(), ...useOwnFilters(), ...useZoneFilter()];
  const query = useListSearch(filters);
  return (
    <Page
      name={t('nav.models')}
      title={t('nav.models')}
      actions={<RegisterButton opens="model" />}
      api={[`GET ${withQuery('/v1/models', query)}`]}
      cli={[
        commandLine('falaj model list', {
          q: query['q'],
          zone: query['zone'],
          project: query['project_id'],
          'created-by': query['created_by'],
          sort: query['sort'],
        }),
        'falaj model register NAME JOB',
        'falaj model import FILE.onnx --name NAME',
      ]}
    >
      <ServerTable
        path="/v1/models"
        label={t('nav.models')}
        filters={filters}
        rowKey={(m) => m.model_id!}
        rowName={(m) => titleOf(m)}
        bulk={
          can('model:write')
            ? [
                {
                  label: t('models.delete'),
                  danger: true,
                  confirm: t('models.deleteMany'),
                  run: (m) => change('DELETE', `/v1/models/${m.model_id!}`),
                },
              ]
            : []
        }
        columns={[
          {
            name: 'display_name',
            label: t('col.name'),
            sort: BY_NAME,
            cell: (m) => (
              <To to={`/models/${m.model_id!}`}>
                <Called of={m} />
              </To>
            ),
          },
          { name: 'description', label: t('col.description'), cell: (m) => <Name>{m.description}</Name> },
          { name: 'latest_version', label: t('col.latest'), cell: (m) => number(m.latest_version) },
          {
            name: 'created_by',
            label: t('datasets.by'),
            cell: (m) => <Name>{names.user(m.created_by ?? '')}</Name>,
          },
          { name: 'created_at', label: t('col.created'), sort: BY_TIME, cell: (m) => <Time at={m.created_at} ago /> },
          { name: 'name', label: t('col.short'), cell: (m) => <Code>{m.name}</Code>, extra: true },
          { name: 'model_id', label: t('col.id'), cell: (m) => <Code>{m.model_id}</Code>, extra: true },
        ]}
        empty={
          <Empty
            title={t('models.empty')}
            body={t('models.emptyBody')}
            action={<RegisterButton />}
            cli="falaj model register NAME JOB"
          />
        }
      />
    </Page>
  );
}
