// SPDX-License-Identifier: Apache-2.0
// Job.tsx - one job: its states, why it stands where it stands, what may be done, and its parts. Its states come by the tab's stream.
import { Button, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { memo, useDeferredValue, useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import { useLive } from '../api/live.ts';
import { afterPaint } from '../lib/afterpaint.ts';
import type { Search } from '../lib/search.ts';
import { mayResume, maySuspend } from '../lib/jobs.ts';
import { isProgram, isSubmitted } from '../lib/jobtypes.ts';
import { useSession } from '../shell/session.tsx';
import { Name } from '../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../ui/dialogs.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Loading } from '../ui/states.tsx';
import { AuditTrail } from './job/AuditTrail.tsx';
import { Config } from './job/Config.tsx';
import { Attempts, Events } from './job/Events.tsx';
import { Idle } from './job/Idle.tsx';
import { Inside } from './job/Inside.tsx';
import { Lineage } from './job/Lineage.tsx';
import { Logs } from './job/Logs.tsx';
import { Metrics } from './job/Metrics.tsx';
import { Overview } from './job/Overview.tsx';
import { Timeline } from './job/Timeline.tsx';
import { Verdict } from './job/Verdict.tsx';
import { isBad, isOver } from './Jobs.tsx';
import { madeBy, RegisterButton } from './models/Register.tsx';

type Job = Schemas['job'];
const TABS = [
  'overview',
  'logs',
  'metrics',
  'system',
  'events',
  'attempts',
  'inside',
  'config',
  'lineage',
  'audit',
] as const;
type Part = (typeof TABS)[number];
/** What each part reads, for the drawer of calls. */
const SUB: Partial<Record<Part, string>> = {
  logs: '/logs',
  metrics: '/series',
  system: '/series',
  events: '/events',
  attempts: '/attempts',
};

/** Put aside, or let go on; while its machine still ends it, that is said instead. */
function Aside({ job }: { job: Job }) {
  const { t } = useTranslation();
  const forget = useForget();
  const verb = mayResume(job) ? 'resume' : isSubmitted(job.kind) && maySuspend(job) ? 'suspend' : undefined;
  if (verb === undefined) return null;
  return (
    <FormButton
      label={t(`job.${verb}`)}
      title={t(`job.${verb}`)}
      variant="secondary"
      fields={[]}
      lead={<p>{t(`job.${verb}Effect`)}</p>}
      onSubmit={async () => {
        await change('POST', `/v1/jobs/${job.job_id!}/${verb}`);
        await forget('/v1/jobs');
      }}
    />
  );
}

const Acts = memo(function Acts({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const made = madeBy(job);
  return (
    <>
      {made && <RegisterButton run={made} />}
      {can('job:submit') && isSubmitted(job.kind) && (
        <Button
          variant="secondary"
          component={(p: object) => <Link {...p} to="/jobs/new" search={{ from: job.job_id! } as never} />}
        >
          {t('job.again')}
        </Button>
      )}
      {can('job:cancel') && <Aside job={job} />}
      {can('job:cancel') && !isOver(job.state) && (
        <TypedConfirm
          label={t('job.cancel')}
          title={t('job.cancelTitle')}
          name={job.name ?? ''}
          effect={t('job.cancelEffect')}
          {...(job.cancel_requested ? { why: t('job.cancelling') } : {})}
          onConfirm={async () => {
            await change('POST', `/v1/jobs/${job.job_id!}/cancel`);
            await forget('/v1/jobs');
          }}
        />
      )}
    </>
  );
});
/** What stands above the parts: drawn again when the job is another, not when a part is chosen. */
const Head = memo(function Head({ job }: { job: Job }) {
  return (
    <>
      <Idle job={job} />
      <Timeline job={job} />
      <Verdict job={job} />
    </>
  );
});

/** The tab answers the click at once and by itself: the address, which the whole page reads, follows when that is painted, and
 *  what is under the tab when there is time. */
function Parts({ tabs, tab, children }: { tabs: readonly Part[]; tab: Part; children: (part: Part) => ReactNode }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [picked, pick] = useState(tab);
  const drawn = useDeferredValue(picked);
  const turn = useRef((): void => undefined);
  useEffect(() => pick(tab), [tab]);
  useEffect(() => () => turn.current(), []);
  const choose = (part: Part): void => {
    pick(part);
    turn.current();
    turn.current = afterPaint(() => void navigate({ to: '.', search: { tab: part } as never }));
  };
  return (
    <Tabs
      className="block"
      activeKey={picked}
      onSelect={(_e, key) => choose(key as Part)}
      aria-label={t('job.parts')}
      mountOnEnter
      unmountOnExit
      leftScrollAriaLabel={t('act.before')}
      rightScrollAriaLabel={t('act.after')}
    >
      {tabs.map((x) => (
        <Tab key={x} eventKey={x} title={<TabTitleText>{t(`job.${x}`)}</TabTitleText>}>
          <div className="block">{x === drawn ? children(x) : <Loading />}</div>
        </Tab>
      ))}
    </Tabs>
  );
}

export function JobDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const search = useSearch({ strict: false }) as Search;
  const path = `/v1/jobs/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {}, { everyMs: 10_000 });
  const job = query.data;
  useLive(job && !isOver(job.state) ? [`job:${id}`] : [], [path]);
  const mayEnter = job !== undefined && isProgram(job.kind) && can('job:enter');
  const tabs = TABS.filter((x) => (x !== 'audit' || can('audit:read')) && (x !== 'inside' || mayEnter));
  const tab = tabs.find((x) => x === search['tab']) ?? (job && isBad(job.state) ? 'logs' : 'overview');
  const panes: Record<Part, (j: Job) => ReactNode> = {
    overview: (j) => <Overview job={j} />,
    logs: (j) => <Logs job={j} />,
    metrics: (j) => <Metrics job={j} system={false} />,
    system: (j) => <Metrics job={j} system />,
    events: () => <Events id={id} />,
    attempts: () => <Attempts id={id} />,
    inside: (j) => <Inside job={j} />,
    config: (j) => <Config job={j} />,
    lineage: (j) => <Lineage job={j} />,
    audit: () => <AuditTrail id={id} />,
  };
  const cli = [`falaj job get ${id}`];
  if (tab === 'logs' || tab === 'events') cli.push(`falaj job ${tab} ${id}`);
  if (tab === 'inside') cli.push(`falaj job shell ${id}`, `falaj job forward ${id} 8888`);
  if (tab === 'audit') cli.push(`falaj audit events --resource ${id}`);
  return (
    <Page
      name={job?.name ?? id}
      title={<Name>{job?.name ?? id}</Name>}
      crumbs={[[t('nav.jobs'), '/jobs']]}
      actions={job && <Acts job={job} />}
      api={[
        `GET ${path}`,
        ...(SUB[tab] ? [`GET ${path}${SUB[tab]}`] : []),
        ...(tab === 'inside' ? [`POST ${path}/inside`, 'GET /v1/inside-policy'] : []),
        ...(tab === 'audit' ? [`GET /v1/audit/events?resource=${id}`] : []),
      ]}
      cli={cli}
    >
      <Answer of={query}>
        {(j) => (
          <>
            <Head job={j} />
            <Parts tabs={tabs} tab={tab}>
              {(part) => panes[part](j)}
            </Parts>
          </>
        )}
      </Answer>
    </Page>
  );
}
