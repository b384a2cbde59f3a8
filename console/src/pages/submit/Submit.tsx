// SPDX-License-Identifier: Apache-2.0
// Submit.tsx - a job from a form and from YAML at once, begun from a template or from a former job (?from=job_…, ?dataset=dst_…).
import {
  ActionGroup,
  AlertActionLink,
  Button,
  Form,
  FormGroup,
  FormSelect,
  FormSelectOption,
  FormSelectOptionGroup,
} from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import type { Written } from '../../api/paths.ts';
import { placeFaults, Problem, type FieldFault } from '../../api/problem.ts';
import { cliOf } from '../../lib/jobcall.ts';
import { dateTime } from '../../lib/format.ts';
import { fieldsOf, JOB_FIELDS, kindOf, type Json } from '../../lib/jobrequest.ts';
import { isSubmitted, USUAL } from '../../lib/jobtypes.ts';
import type { Search } from '../../lib/search.ts';
import { writeYaml } from '../../lib/yamltext.ts';
import { requestOf, TEMPLATES, withDataset } from '../../lib/templates.ts';
import { optimiseRequest } from '../../lib/type_optimise.ts';
import { useSession } from '../../shell/session.tsx';
import { shortId, To } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty, ServerWords, useProblemText } from '../../ui/states.tsx';
import { Calls } from './Calls.tsx';
import { Check } from './Check.tsx';
import { useDraft } from './draft.ts';
import { fieldId } from './Field.tsx';
import { RequestForm } from './Form.tsx';
import { useKeeping, useKept } from './kept.ts';
import { TASKS_ID, TasksField, useTasks } from './Tasks.tsx';
import { Yaml } from './Yaml.tsx';

const FORMER = 20;

function Begin({ sets, begin }: { sets: Schemas['dataset'][]; begin: (request: Json) => void }) {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const text = useProblemText();
  const [picked, setPicked] = useState('');
  const [problem, setProblem] = useState<unknown>(null);
  const jobs = useGet('/v1/jobs', { page_size: FORMER }, { enabled: can('job:read') });
  const usual = sets.find((d) => d.latest_version > 0)?.dataset_id;
  const take = async (value: string): Promise<void> => {
    setPicked(value);
    setProblem(null);
    const template = TEMPLATES.find((x) => x.key === value);
    if (template) return begin(withDataset(template.request, usual));
    if (value === '') return undefined;
    try {
      begin(requestOf(await get(`/v1/jobs/${encodeURIComponent(value)}`), me.home_zone!));
    } catch (p) {
      setProblem(p);
    }
    return undefined;
  };
  return (
    <div className="submit-bar">
      <FormGroup label={t('submit.begin')} fieldId="f-begin">
        <FormSelect id="f-begin" value={picked} onChange={(_e, v) => void take(v)}>
          <FormSelectOption value="" label={t('submit.beginHere')} />
          <FormSelectOptionGroup label={t('submit.templates')}>
            {TEMPLATES.map((x) => (
              <FormSelectOption key={x.key} value={x.key} label={t(x.key)} />
            ))}
          </FormSelectOptionGroup>
          <FormSelectOptionGroup label={t('submit.former')}>
            {(jobs.data?.data ?? [])
              .filter((j) => isSubmitted(j.kind))
              .map((j) => (
                <FormSelectOption key={j.job_id} value={j.job_id} label={`${j.name!} · ${shortId(j.job_id)}`} />
              ))}
          </FormSelectOptionGroup>
        </FormSelect>
      </FormGroup>
      {problem !== null && <Note variant="danger" title={text(problem)} />}
    </div>
  );
}

/** One job, or an array of them; where it leads. */
async function submit(array: string, job: Json): Promise<string> {
  if (array === '') return `/jobs/${(await change('POST', '/v1/jobs', job as Written)).job_id!}`;
  return `/arrays/${(await change('POST', '/v1/arrays', { array, job } as unknown as Written)).array_id}`;
}

/** An array's faults stand below its job: there they are those of the form. */
const ofJob = (p: Problem): Problem =>
  Object.assign(Object.create(p) as Problem, {
    fields: p.fields.map((f) => ({ ...f, path: f.path.replace(/^job\./, '') })),
  });

function Editor({ sets, first, place }: { sets: Schemas['dataset'][]; first: Json; place: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forget = useForget();
  const text = useProblemText();
  const kept = useKept(place);
  const draft = useDraft(first, kept.first?.text);
  const begun = useRef(writeYaml(first));
  useKeeping(kept, draft.text, draft.text !== begun.current);
  const [eager, setEager] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [loose, setLoose] = useState<FieldFault[]>([]);
  const tasks = useTasks(place);
  const keptAt = kept.first?.at ?? tasks.keptAt;

  const focusFirst = (paths: string[]): void => {
    const at = fieldsOf(kindOf(draft.request)).find((f) =>
      paths.some((p) => p === f.path || p.startsWith(`${f.path}.`)),
    );
    document.getElementById(at ? fieldId(at) : 'yaml')?.focus();
  };
  const send = async (): Promise<void> => {
    setEager(true);
    setProblem(null);
    setLoose([]);
    if (draft.syntax.length > 0) return document.getElementById('yaml')?.focus();
    const own = draft.faults.filter((f) => f.words === undefined);
    if (own.length > 0) return focusFirst(own.map((f) => f.path.join('.')));
    if (!tasks.isSound()) return document.getElementById(TASKS_ID)?.focus();
    setBusy(true);
    try {
      const to = await submit(tasks.array, draft.request);
      kept.drop();
      tasks.drop();
      await Promise.all([forget('/v1/jobs'), forget('/v1/arrays')]);
      await navigate({ to });
    } catch (p) {
      setProblem(p);
      if (p instanceof Problem) {
        const placed: FieldFault[] = [];
        setLoose(
          placeFaults(
            ofJob(p),
            JOB_FIELDS.map((f) => f.path),
            (path, fault) => placed.push({ ...fault, path }),
          ),
        );
        draft.refuse(placed);
        const isTasks = tasks.refuse(p.fields);
        if (placed.length > 0) focusFirst(placed.map((f) => f.path));
        else if (isTasks) document.getElementById(TASKS_ID)?.focus();
      }
    } finally {
      setBusy(false);
    }
    return undefined;
  };
  return (
    <>
      <Begin sets={sets} begin={draft.begin} />
      {keptAt !== '' && (
        <Note
          title={t('submit.kept', { when: dateTime(keptAt) })}
          actionLinks={
            <AlertActionLink
              onClick={() => {
                kept.drop();
                tasks.drop();
                draft.begin(first);
              }}
            >
              {t('submit.keptDrop')}
            </AlertActionLink>
          }
        />
      )}
      <div className="submit">
        <Form
          noValidate
          aria-label={t('nav.newJob')}
          onSubmit={(e) => {
            e.preventDefault();
            void send();
          }}
        >
          <RequestForm draft={draft} sets={sets} eager={eager} />
          <TasksField of={tasks} />
          {problem !== null && (
            <Note variant="danger" title={text(problem)}>
              {(loose.length > 0 || !(problem instanceof Problem) || problem.fields.length === 0) && (
                <ServerWords problem={problem} />
              )}
            </Note>
          )}
          <ActionGroup>
            <Button type="submit" isLoading={busy} isDisabled={busy} spinnerAriaValueText={t('state.loading')}>
              {t('submit.go')}
            </Button>
            <Button
              variant="link"
              component={(p: object) => (
                <To {...p} to="/jobs">
                  {t('act.cancel')}
                </To>
              )}
            />
          </ActionGroup>
        </Form>
        <div>
          <Yaml draft={draft} fresh={!eager && draft.text === begun.current} />
          <Check draft={draft} />
          <Calls request={draft.request} array={tasks.array} />
        </div>
      </div>
    </>
  );
}

export function Submit() {
  const { t } = useTranslation();
  const { me } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const from = search['from'];
  const sets = useGet('/v1/datasets', { page_size: 200 });
  const old = useGet(`/v1/jobs/${encodeURIComponent(from ?? '')}`, {}, { enabled: from !== undefined });
  const model = search['model'];
  const start = (list: Schemas['dataset'][]): Json => {
    if (model !== undefined) return optimiseRequest(model, Number(search['version']) || undefined);
    const usual = list.find((d) => d.dataset_id === search['dataset']) ?? list.find((d) => d.latest_version > 0);
    return withDataset(TEMPLATES[0]!.request, usual?.dataset_id);
  };
  return (
    <Page
      name={t('nav.newJob')}
      title={t('nav.newJob')}
      crumbs={[[t('nav.jobs'), '/jobs']]}
      api={['POST /v1/jobs:check', 'POST /v1/jobs', 'POST /v1/arrays']}
      cli={[
        cliOf({ name: 'NAME', kind: USUAL, spec: { dataset_id: 'DATASET' } }),
        'falaj job submit --file request.json',
      ]}
    >
      <Answer of={sets}>
        {(page) =>
          page.data.length === 0 && from === undefined ? (
            <Empty
              title={t('datasets.empty')}
              body={t('submit.needData')}
              action={<To to="/datasets">{t('nav.datasets')}</To>}
              cli="falaj dataset create NAME --label label --classes 10"
            />
          ) : from === undefined ? (
            <Editor sets={page.data} first={start(page.data)} place={`job.${search['dataset'] ?? model ?? ''}`} />
          ) : (
            <Answer of={old}>
              {(j) => (
                <Editor key={j.job_id} sets={page.data} first={requestOf(j, me.home_zone!)} place={`job.${from}`} />
              )}
            </Answer>
          )
        }
      </Answer>
    </Page>
  );
}
