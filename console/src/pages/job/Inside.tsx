// SPDX-License-Identifier: Apache-2.0
// Inside.tsx - into a running program: a terminal, and its ports. A tab of a program's page, for who may enter.
import { Button, ClipboardCopy, Content, FormSelect, FormSelectOption, TextInput } from '@patternfly/react-core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { latin } from '../../lib/digits.ts';
import { number } from '../../lib/format.ts';
import { Alert } from '../../ui/alert.tsx';
import { Answer, Loading } from '../../ui/states.tsx';

type Job = Schemas['job'];
const Typing = lazy(() => import('./Typing.tsx').then((m) => ({ default: m.Typing })));
const Shell = lazy(() => import('./Shell.tsx').then((m) => ({ default: m.Shell })));
const PORT = /^[1-9]\d{0,4}$/;

/** Why nobody is let in now; undefined: people are. */
function barrier(job: Job, policy: Schemas['inside_policy']): 'closed' | 'notRunning' | undefined {
  const closed = policy.closed_projects ?? [];
  if (!policy.allowed || (job.project_id !== undefined && closed.includes(job.project_id))) return 'closed';
  return job.state === 'RUNNING' ? undefined : 'notRunning';
}

/** A tenant's program never runs on this page's origin, so its ports are reached through the person's own machine. */
function Ports({ job, rank }: { job: string; rank: number }) {
  const { t } = useTranslation();
  const [text, setText] = useState('8888');
  const port = latin(text.trim());
  const isPort = PORT.test(port) && Number(port) <= 65535;
  return (
    <section aria-labelledby="ports-title" className="block">
      <Content component="h2" id="ports-title">
        {t('inside.ports')}
      </Content>
      <p className="lead">{t('inside.portsWhat')}</p>
      <label htmlFor="inside-port">{t('inside.port')}</label>
      <TextInput
        id="inside-port"
        className="port"
        dir="ltr"
        inputMode="numeric"
        value={text}
        validated={isPort ? 'default' : 'error'}
        aria-describedby="inside-port-help"
        onChange={(_e, v) => setText(v)}
      />
      <p id="inside-port-help" className={isPort ? 'lead' : 'port-fault'}>
        {t(isPort ? 'inside.portHelp' : 'inside.portBad')}
      </p>
      {isPort && (
        <div dir="ltr">
          <ClipboardCopy
            isReadOnly
            isCode
            hoverTip={t('act.copy')}
            clickTip={t('act.copied')}
            textAriaLabel={t('inside.command')}
            copyAriaLabel={t('act.copy')}
          >
            {`falaj job forward ${job} ${port}${rank > 0 ? ` --rank ${rank}` : ''}`}
          </ClipboardCopy>
        </div>
      )}
    </section>
  );
}

interface MemberOf {
  nodes: number;
  rank: number;
  choose: (rank: number) => void;
  isOpen: boolean;
}
/** Which of the job's programs, where each of several nodes runs one. Another one is another terminal: the open one ends. */
function Member({ nodes, rank, choose, isOpen }: MemberOf) {
  const { t } = useTranslation();
  return (
    <div className="block">
      <label htmlFor="inside-rank">{t('inside.rank')}</label>
      <FormSelect
        id="inside-rank"
        className="port"
        value={rank}
        aria-describedby="inside-rank-help"
        onChange={(_e, v) => choose(Number(v))}
      >
        {Array.from({ length: nodes }, (_, n) => (
          <FormSelectOption key={n} value={n} label={number(n)} />
        ))}
      </FormSelect>
      <p id="inside-rank-help" className="lead">
        {isOpen ? t('inside.rankOpen') : ''}
      </p>
    </div>
  );
}

export function Inside({ job }: { job: Job }) {
  const { t } = useTranslation();
  const query = useGet('/v1/inside-policy');
  const [isOpen, setOpen] = useState(false);
  const [rank, setRank] = useState(0);
  const id = job.job_id!;
  const nodes = job.nodes ?? 1;
  const takesInput = (job.spec as { takes_stdin?: boolean } | undefined)?.takes_stdin === true;
  return (
    <Answer of={query}>
      {(policy) => {
        const why = barrier(job, policy);
        return (
          <>
            <p className="lead">{t('inside.lead')}</p>
            {why && !isOpen && <Alert isInline variant="info" title={t(`inside.${why}`)} className="block" />}
            {nodes > 1 && <Member nodes={nodes} rank={rank} choose={setRank} isOpen={isOpen} />}
            {isOpen ? (
              <Suspense fallback={<Loading />}>
                <Shell key={rank} job={id} rank={rank} close={() => setOpen(false)} />
              </Suspense>
            ) : (
              <Button onClick={() => setOpen(true)} isAriaDisabled={why !== undefined}>
                {t('inside.open')}
              </Button>
            )}
            {takesInput && (
              <Suspense fallback={<Loading />}>
                <Typing key={rank} job={id} rank={rank} why={why !== undefined} />
              </Suspense>
            )}
            <Ports job={id} rank={rank} />
          </>
        );
      }}
    </Answer>
  );
}
