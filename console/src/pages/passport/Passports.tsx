// SPDX-License-Identifier: Apache-2.0
// Passports.tsx - every data set by its passport, for who answers for data and may not open data sets themselves.
import { useTranslation } from 'react-i18next';
import { DATASET_NEW_DATA_CLASS } from '../../api/gen/enums.ts';
import { withQuery } from '../../api/client.ts';
import { commandLine } from '../../lib/calls.ts';
import { number } from '../../lib/format.ts';
import { Called, Code, Time, To } from '../../ui/bits.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { BY_NAME, BY_TIME, useNameFilter, useZoneFilter } from '../../ui/table/usual.ts';
import { Frame } from '../audit/frame.tsx';
import { titleOf } from '../../lib/titles.ts';

export function Passports() {
  const { t } = useTranslation();
  const filters: Filter[] = [
    useNameFilter(),
    {
      name: 'data_class',
      label: t('col.class'),
      options: DATASET_NEW_DATA_CLASS.map((c) => ({ value: c, label: t(`class.${c}`) })),
    },
    ...useZoneFilter(),
  ];
  const query = useListSearch(filters);
  return (
    <Frame
      part="audit.passports"
      lead={t('audit.passportsLead')}
      api={[`GET ${withQuery('/v1/passports', query)}`]}
      cli={[commandLine('falaj audit passports', { q: query['q'], sort: query['sort'] })]}
    >
      <ServerTable
        path="/v1/passports"
        label={t('audit.passports')}
        filters={filters}
        rowKey={(d) => d.dataset_id!}
        rowName={(d) => titleOf(d)}
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            sort: BY_NAME,
            cell: (d) => (
              <To to={`/datasets/${d.dataset_id!}/passport`}>
                <Called of={d} />
              </To>
            ),
          },
          { name: 'data_class', label: t('col.class'), cell: (d) => t(`class.${d.data_class!}`) },
          { name: 'latest_version', label: t('col.latest'), cell: (d) => number(d.latest_version) },
          { name: 'created_at', label: t('col.created'), sort: BY_TIME, cell: (d) => <Time at={d.created_at} ago /> },
          { name: 'dataset_id', label: t('col.id'), cell: (d) => <Code>{d.dataset_id}</Code>, extra: true },
        ]}
        empty={<Empty title={t('audit.noPassports')} body={t('audit.passportsLead')} cli="falaj audit passports" />}
      />
    </Frame>
  );
}
