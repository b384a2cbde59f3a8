// SPDX-License-Identifier: Apache-2.0
// Arrays.tsx - the arrays of jobs, newest first, and how far each is.
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Done, isOpen } from './bits.tsx';

type Array_ = Schemas['job_array'];

export function Arrays() {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Page
      name={t('nav.arrays')}
      title={t('nav.arrays')}
      crumbs={[[t('nav.jobs'), '/jobs']]}
      lead={t('arrays.lead')}
      api={['GET /v1/arrays']}
      cli={['falaj array list', 'falaj job submit NAME --array 0-99%8']}
    >
      <ServerTable
        path="/v1/arrays"
        label={t('nav.arrays')}
        rowKey={(a) => a.array_id}
        columns={[
          {
            name: 'name',
            label: t('arrays.name'),
            cell: (a) => (
              <To to={`/arrays/${a.array_id}`}>
                <Name>{a.name}</Name>
              </To>
            ),
          },
          { name: 'tasks', label: t('arrays.tasks'), cell: (a) => <Code>{a.tasks}</Code> },
          { name: 'state', label: t('arrays.state'), cell: (a) => t(`arrays.${a.state}`) },
          { name: 'completed', label: t('arrays.done'), cell: (a) => <Done of={a} /> },
          { name: 'waiting', label: t('arrays.waiting'), cell: (a) => number(a.waiting + a.again) },
          { name: 'live', label: t('arrays.live'), cell: (a) => number(a.live) },
          { name: 'failed', label: t('arrays.failed'), cell: (a) => number(a.failed) },
          { name: 'created_at', label: t('arrays.created'), cell: (a) => <Time at={a.created_at} /> },
        ]}
        {...(can('job:cancel')
          ? {
              rowName: (a: Array_) => a.name,
              bulk: [
                {
                  label: t('arrays.cancel'),
                  danger: true,
                  confirm: t('arrays.cancelEffect'),
                  fits: isOpen,
                  run: (a: Array_) => change('POST', `/v1/arrays/${a.array_id}/cancel`),
                },
              ],
            }
          : {})}
        empty={
          <Empty title={t('arrays.none')} body={t('arrays.noneBody')} cli="falaj job submit sweep --array 0-99%8" />
        }
      />
    </Page>
  );
}
