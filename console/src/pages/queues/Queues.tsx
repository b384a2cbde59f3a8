// SPDX-License-Identifier: Apache-2.0
// Queues.tsx - the queues that the organisation declared: how each goes, whether it goes, and who makes room for it.
import { useTranslation } from 'react-i18next';
import {
  QUEUE_NEW_MODE,
  QUEUE_NEW_RECLAIM_WITHIN_COHORT,
  QUEUE_NEW_STOP_POLICY,
  QUEUE_NEW_WITHIN_CLUSTER_QUEUE,
} from '../../api/gen/enums.ts';
import { change, get, ifMatch, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';

type Queue = Schemas['job_queue'];

function usePolicies() {
  const { t } = useTranslation();
  const options = <const V extends string>(values: readonly V[]) =>
    values.map((v) => ({ value: v, label: t(`queues.${v}`) }));
  return formFields(
    {
      name: 'mode',
      label: t('queues.mode'),
      kind: 'select',
      options: options(QUEUE_NEW_MODE),
      help: t('queues.modeHelp'),
    },
    {
      name: 'stop_policy',
      label: t('queues.stop'),
      kind: 'select',
      options: options(QUEUE_NEW_STOP_POLICY),
      help: t('queues.stopHelp'),
    },
    {
      name: 'within_cluster_queue',
      label: t('queues.within'),
      kind: 'select',
      options: options(QUEUE_NEW_WITHIN_CLUSTER_QUEUE),
      help: t('queues.withinHelp'),
    },
    {
      name: 'reclaim_within_cohort',
      label: t('queues.reclaim'),
      kind: 'select',
      options: options(QUEUE_NEW_RECLAIM_WITHIN_COHORT),
      help: t('queues.reclaimHelp'),
    },
  );
}

/** opens: the one of the page's head; a list that is empty offers it once more. */
function NewQueue({ opens }: { opens?: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const fields = formFields(
    { name: 'name', label: t('queues.name'), required: true, pattern: SLUG, help: t('queues.nameHelp') },
    {
      name: 'project_id',
      label: t('queues.project'),
      kind: 'select',
      options: [
        { value: '', label: t('queues.noProject') },
        ...(projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) })),
      ],
    },
    ...usePolicies(),
  );
  return (
    <FormButton
      {...(opens ? { opens } : {})}
      label={t('queues.declare')}
      title={t('queues.declare')}
      ready={!projects.isLoading}
      fields={fields}
      initial={{
        mode: 'BestEffortFIFO',
        stop_policy: 'None',
        within_cluster_queue: 'Never',
        reclaim_within_cohort: 'Never',
      }}
      onSubmit={async (v) => {
        await change('POST', '/v1/queues', bodyOf(fields, v));
        await forget('/v1/queues');
      }}
    />
  );
}

function Acts({ queue: q }: { queue: Queue }) {
  const { t } = useTranslation();
  const forget = useForget();
  const fields = usePolicies();
  return (
    <span className="acts">
      <FormButton
        variant="link"
        label={t('queues.edit')}
        title={t('queues.editOf', { name: q.name })}
        submit={t('act.save')}
        fields={fields}
        initial={{
          mode: q.mode,
          stop_policy: q.stop_policy,
          within_cluster_queue: q.within_cluster_queue,
          reclaim_within_cohort: q.reclaim_within_cohort,
        }}
        lock={{ read: () => get(`/v1/queues/${q.queue_id}`), was: { ...q } }}
        onSubmit={async (v, tag) => {
          await change('PATCH', `/v1/queues/${q.queue_id}`, bodyOf(fields, v), { 'if-match': tag });
          await forget('/v1/queues');
        }}
      />
      <TypedConfirm
        variant="link"
        label={t('queues.remove')}
        title={t('queues.remove')}
        name={q.name}
        effect={t('queues.removeEffect')}
        onConfirm={async () => {
          await change('DELETE', `/v1/queues/${q.queue_id}`, undefined, ifMatch(q.version));
          await forget('/v1/queues');
        }}
      />
    </span>
  );
}

export function Queues() {
  const { t } = useTranslation();
  const { can } = useSession();
  const setter = can('queue:manage');
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const projectOf = (id: string): string => titleOf(projects.data?.data.find((p) => p.project_id === id)) || id;
  return (
    <Page
      name={t('nav.queues')}
      title={t('nav.queues')}
      lead={t('queues.lead')}
      actions={setter && <NewQueue opens="queue" />}
      api={['GET /v1/queues']}
      cli={['falaj queue list', ...(setter ? ['falaj queue create NAME', 'falaj queue set QUEUE --stop Hold'] : [])]}
    >
      <ServerTable
        path="/v1/queues"
        label={t('nav.queues')}
        rowKey={(q) => q.queue_id}
        columns={[
          {
            name: 'name',
            label: t('queues.name'),
            cell: (q) => (
              <To to={`/queues/${q.queue_id}`}>
                <Code>{q.name}</Code>
              </To>
            ),
          },
          {
            name: 'project_id',
            label: t('queues.project'),
            cell: (q) => (q.project_id ? <Name>{projectOf(q.project_id)}</Name> : t('queues.noProject')),
          },
          { name: 'mode', label: t('queues.mode'), cell: (q) => t(`queues.${q.mode}`) },
          { name: 'stop_policy', label: t('queues.stop'), cell: (q) => t(`queues.${q.stop_policy}`) },
          {
            name: 'within_cluster_queue',
            label: t('queues.within'),
            cell: (q) => t(`queues.${q.within_cluster_queue}`),
          },
          {
            name: 'reclaim_within_cohort',
            label: t('queues.reclaim'),
            cell: (q) => t(`queues.${q.reclaim_within_cohort}`),
          },
        ]}
        {...(setter
          ? {
              rowName: (q: Queue) => q.name,
              bulk: [
                ...(['Hold', 'None'] as const).map((to) => ({
                  label: t(`queues.to_${to}`),
                  confirm: t(`queues.to_${to}Effect`),
                  fits: (q: Queue) => q.stop_policy !== to,
                  run: (q: Queue) =>
                    change('PATCH', `/v1/queues/${q.queue_id}`, { stop_policy: to }, ifMatch(q.version)),
                })),
                {
                  label: t('queues.remove'),
                  danger: true,
                  confirm: t('queues.removeEffect'),
                  run: (q: Queue) => change('DELETE', `/v1/queues/${q.queue_id}`, undefined, ifMatch(q.version)),
                },
              ],
              rowActions: (q: Queue) => <Acts queue={q} />,
            }
          : {})}
        empty={
          <Empty
            title={t('queues.none')}
            body={t('queues.noneBody')}
            action={setter && <NewQueue />}
            cli="falaj queue create night --mode StrictFIFO"
          />
        }
      />
    </Page>
  );
}
