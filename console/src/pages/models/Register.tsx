// SPDX-License-Identifier: Apache-2.0
// Register.tsx - what a completed job has made becomes the next version of a model: from the job's own page, from a list of runs,
// from a comparison, or from the models, where the job is sought by its name among all that there are.
import { Button, FormGroup, FormSelect, FormSelectOption, Radio, SearchInput } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { isKind, makesOf, MODEL_MAKER, MODEL_MAKERS } from '../../lib/jobtypes.ts';
import { parentOf } from '../../lib/modelreport.ts';
import { keyResults, modelName, runOf, type Run } from '../../lib/runs.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, Time } from '../../ui/bits.tsx';
import { FormModal } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { useRested } from '../../ui/rested.ts';
import { Answer } from '../../ui/states.tsx';
import './models.css';

const SHOWN = 6;

/** Its results and when it ended: what one run is told from another by. */
function Facts({ run }: { run: Run }) {
  return (
    <span className="run-facts">
      {keyResults(run).map(([name, v]) => (
        <Code key={name}>{`${name} ${number(v, 4)}`}</Code>
      ))}
      <Time at={run.finished ?? run.submitted} ago />
    </span>
  );
}

/** Completed jobs, newest first, sought by the API: also what is far back is found. */
function JobPicker({ value, put }: { value: Run | undefined; put: (run: Run) => void }) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [kind, setKind] = useState(MODEL_MAKER);
  const q = useRested(typed.trim());
  const done = useGet('/v1/jobs', {
    state: 'COMPLETED',
    kind,
    page_size: SHOWN,
    ...(q === '' ? {} : { q }),
  });
  const first = done.data?.data[0];
  useEffect(() => {
    if (first && value === undefined) put(runOf(first));
  }, [first, value, put]);
  return (
    <FormGroup role="radiogroup" label={t('models.job')} isRequired fieldId="register-q" className="job-picker">
      <FormSelect
        id="register-kind"
        aria-label={t('models.kind')}
        value={kind}
        onChange={(_e, v) => isKind(v) && setKind(v)}
      >
        {MODEL_MAKERS.map((k) => (
          <FormSelectOption key={k} value={k} label={t(`kind.${k}`)} />
        ))}
      </FormSelect>
      <SearchInput
        id="register-q"
        aria-label={t('models.findJob')}
        placeholder={t('models.findJob')}
        value={typed}
        onChange={(_e, v) => setTyped(v)}
        onClear={() => setTyped('')}
        resetButtonLabel={t('act.clear')}
      />
      <Answer of={done}>
        {(page) =>
          page.data.length === 0 ? (
            <p className="lead">{t(q === '' ? 'models.noJobs' : 'list.noMatch')}</p>
          ) : (
            <>
              {page.data.map((j) => (
                <Radio
                  key={j.job_id}
                  id={`register-${j.job_id!}`}
                  name="register-job"
                  label={<Name>{j.name}</Name>}
                  description={<Facts run={runOf(j)} />}
                  isChecked={value?.id === j.job_id}
                  onChange={() => put(runOf(j))}
                />
              ))}
              {page.next_page_token !== undefined && <p className="lead">{t('models.moreJobs')}</p>}
            </>
          )
        }
      </Answer>
    </FormGroup>
  );
}

interface Props {
  /** Of the model that gets one more version; absent: it is asked for. */
  name?: string;
  /** The job that made it; absent: it is chosen. */
  run?: Run;
}
export function RegisterDialog({ name, run, close }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forget = useForget();
  const [picked, setPicked] = useState(run);
  // What was made of a model is usually its next version.
  const parent = run && name === undefined ? parentOf(run.spec) : undefined;
  const from = useGet(`/v1/models/${parent ?? ''}`, {}, { enabled: parent !== undefined });
  const title = t(name === undefined ? 'models.register' : 'models.registerNext');
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, max: 63, help: t('models.nameHelp') },
    { name: 'description', label: t('col.description'), kind: 'area', max: 1024 },
  );
  if (from.isLoading) return null;
  return (
    <FormModal
      title={title}
      submit={title}
      fields={fields}
      initial={{ name: name ?? from.data?.name ?? (run ? modelName(run.name) : '') }}
      lead={
        run && (
          <div className="effect">
            <Name>{run.name}</Name> <Facts run={run} />
          </div>
        )
      }
      {...(run ? {} : { extra: () => <JobPicker value={picked} put={setPicked} /> })}
      extraNames={['job_id']}
      close={close}
      onSubmit={async (v) => {
        const made = await change('POST', '/v1/models', { ...bodyOf(fields, v), job_id: picked?.id ?? '' });
        await forget('/v1/models');
        await navigate({ to: `/models/${made.model_id!}` });
      }}
    />
  );
}

/** Registering is there only for who may do it, and once a job has made something. */
export function RegisterButton({
  name,
  run,
  variant,
  opens,
}: Props & { variant?: 'primary' | 'secondary' | 'link'; opens?: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const named = opens !== undefined && search['new'] === opens;
  const [open, setOpen] = useState(false);
  const close = (): void => {
    setOpen(false);
    if (named) void navigate({ to: '.', search: withFilter(search, 'new', '') as never, replace: true });
  };
  const any = useGet(
    '/v1/jobs',
    { state: 'COMPLETED', page_size: 1 },
    { enabled: run === undefined && can('model:write') && can('job:read') },
  );
  if (!can('model:write') || (run === undefined && !any.data?.data.length)) return null;
  return (
    <>
      <Button
        variant={variant ?? (name === undefined ? 'primary' : 'secondary')}
        isInline={variant === 'link'}
        onClick={() => setOpen(true)}
      >
        {t(name === undefined ? 'models.register' : 'models.registerNext')}
      </Button>
      {(open || named) && <RegisterDialog {...(name ? { name } : {})} {...(run ? { run } : {})} close={close} />}
    </>
  );
}
/** The job as what is registered; nothing where it has made no model. */
export const madeBy = (job: Schemas['job']): Run | undefined =>
  makesOf(job.kind) === 'model' && job.state === 'COMPLETED' ? runOf(job) : undefined;
