// SPDX-License-Identifier: Apache-2.0
// Array.tsx - one array of jobs: how far it is, its tasks by index, and what the whole may be told.
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { JOB_STATES } from '../../lib/jobs.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, shortId, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Done, isOpen } from './bits.tsx';

type Of = Schemas['job_array'];
type Verb = 'hold' | 'release' | 'suspend' | 'resume' | 'retry';

/** What fits where it stands. */
const verbsOf = (a: Of): Verb[] => [
  ...(a.state === 'OPEN' ? (['hold', 'suspend'] as const) : []),
  ...(a.state === 'HELD' ? (['release'] as const) : []),
  ...(a.state === 'SUSPENDED' ? (['resume'] as const) : []),
  ...(a.failed > 0 || (a.state === 'CANCELLED' && a.waiting > 0) ? (['retry'] as const) : []),
];

function Acts({ array: a }: { array: Of }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const tell = async (verb: Verb | 'cancel'): Promise<void> => {
    await change('POST', `/v1/arrays/${a.array_id}/${verb}`);
    await Promise.all([forget('/v1/arrays'), forget('/v1/jobs')]);
  };
  return (
    <>
      {verbsOf(a)
        .filter((v) => can(v === 'retry' ? 'job:submit' : 'job:cancel'))
        .map((v) => (
          <FormButton
            key={v}
            label={t(`arrays.${v}`)}
            title={t(`arrays.${v}`)}
            variant="secondary"
            fields={[]}
            lead={<p>{t(`arrays.${v}Effect`)}</p>}
            onSubmit={() => tell(v)}
          />
        ))}
      {can('job:cancel') && isOpen(a) && (
        <TypedConfirm
          label={t('arrays.cancel')}
          title={t('arrays.cancel')}
          name={a.name}
          effect={t('arrays.cancelEffect')}
          onConfirm={() => tell('cancel')}
        />
      )}
    </>
  );
}

export function ArrayDetail() {
  const { t } = useTranslation();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/arrays/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {}, { everyMs: 5_000 });
  const a = query.data;
  return (
    <Page
      name={a?.name ?? id}
      title={<Name>{a?.name ?? id}</Name>}
      crumbs={[
        [t('nav.jobs'), '/jobs'],
        [t('nav.arrays'), '/arrays'],
      ]}
      actions={a && <Acts array={a} />}
      api={[`GET ${path}`, `GET ${path}/tasks`]}
      cli={[`falaj array get ${id}`, `falaj array tasks ${id} --state FAILED`]}
    >
      <Answer of={query}>
        {(x) => (
          <>
            <Done of={x} large />
            {x.message && isOpen(x) && (
              <Note variant="warning" title={t('arrays.delayed')}>
                <bdi lang="en" dir="ltr" translate="no">
                  {x.message}
                </bdi>
              </Note>
            )}
            <Pairs
              rows={[
                [t('arrays.state'), t(`arrays.${x.state}`)],
                [t('arrays.tasks'), <Code key="tasks">{x.tasks}</Code>],
                [t('arrays.waiting'), number(x.waiting + x.again)],
                [t('arrays.live'), t('arrays.liveOf', { n: number(x.live), most: number(x.most) })],
                [t('arrays.completed'), number(x.completed)],
                [t('arrays.failed'), number(x.failed)],
                [t('arrays.created'), <Time key="at" at={x.created_at} />],
                [t('col.id'), <Id key="id" value={x.array_id} />],
              ]}
            />
          </>
        )}
      </Answer>
      <ServerTable
        path={`${path}/tasks`}
        label={t('arrays.started')}
        rowKey={(x) => x.job_id}
        rowName={(x) => number(x.index)}
        everyMs={5_000}
        filters={[
          {
            name: 'state',
            label: t('arrays.jobState'),
            options: JOB_STATES.map((s) => ({ value: s, label: t(`value.${s}`) })),
          },
        ]}
        columns={[
          { name: 'index', label: t('arrays.index'), cell: (x) => <Code>{x.index}</Code> },
          {
            name: 'job_id',
            label: t('arrays.job'),
            cell: (x) => (
              <To to={`/jobs/${x.job_id}`}>
                <Code>{shortId(x.job_id)}</Code>
              </To>
            ),
          },
          { name: 'state', label: t('arrays.jobState'), cell: (x) => <State value={x.state} /> },
          { name: 'tries', label: t('arrays.tries'), cell: (x) => number(x.tries) },
          { name: 'finished_at', label: t('arrays.finished'), cell: (x) => <Time at={x.finished_at} /> },
        ]}
        empty={<Empty title={t('arrays.noTask')} body={t('arrays.noTaskBody')} />}
      />
    </Page>
  );
}
