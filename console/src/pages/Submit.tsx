// SPDX-License-Identifier: Apache-2.0
// Submit.tsx - a job from a form, with the same request as curl and CLI lines beside it; ?from=job_… begins with that job's values.
import { ClipboardCopy, Title } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { UseFormReturn } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { change, type Page as ListOf, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import type { Search } from '../lib/search.ts';
import { useSession } from '../shell/session.tsx';
import { ApiForm, bodyOf, type Field, type Values } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { To } from '../ui/bits.tsx';

const SPEC = ['epochs', 'batch_size', 'learning_rate', 'seed'] as const;

export function jobBody(fields: readonly Field[], v: Values): Record<string, unknown> {
  const flat = bodyOf(fields, v);
  const spec: Record<string, unknown> = { dataset_id: flat['dataset_id'] };
  for (const k of SPEC) if (flat[k] !== undefined) spec[k] = flat[k];
  if (flat['hidden'] !== undefined)
    spec['hidden'] = String(flat['hidden'])
      .split(',')
      .map((x) => Number(x.trim()));
  const out: Record<string, unknown> = { name: flat['name'], kind: 'train', spec };
  for (const k of ['zone', 'slots', 'gpus', 'priority', 'max_attempts', 'max_runtime_seconds'])
    if (flat[k] !== undefined) out[k] = flat[k];
  return out;
}
const quoted = (s: string): string => `'${s.replaceAll("'", "'\\''")}'`;

function Same({ form, fields }: { form: UseFormReturn<Values>; fields: Field[] }) {
  const { t } = useTranslation();
  const v = form.watch();
  let body: Record<string, unknown> = {};
  try {
    body = jobBody(fields, v);
  } catch {
    /* shown once it is whole */
  }
  const spec = (body['spec'] ?? {}) as Record<string, unknown>;
  const flags = [
    ['dataset', spec['dataset_id']],
    ['hidden', v['hidden']],
    ['epochs', spec['epochs']],
    ['batch-size', spec['batch_size']],
    ['learning-rate', spec['learning_rate']],
    ['seed', spec['seed']],
    ['zone', body['zone']],
    ['slots', body['slots']],
    ['gpus', body['gpus']],
    ['priority', body['priority']],
    ['max-attempts', body['max_attempts']],
    ['max-runtime', body['max_runtime_seconds']],
  ]
    .filter(([, x]) => x !== undefined && x !== '')
    .map(([k, x]) => `--${String(k)} ${String(x)}`);
  const lines: [string, string][] = [
    [t('shell.cli'), `falaj job submit ${quoted(String(v['name'] ?? ''))} ${flags.join(' ')}`],
    [
      t('shell.api'),
      `curl -H "Authorization: Bearer $FALAJ_TOKEN" -H "Idempotency-Key: $(uuidgen)" -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))} '${location.origin}/v1/jobs'`,
    ],
  ];
  return (
    <>
      {lines.map(([label, text]) => (
        <div key={label}>
          <Title headingLevel="h2" size="md">
            {label}
          </Title>
          <ClipboardCopy
            isReadOnly
            isCode
            variant="expansion"
            isExpanded
            hoverTip={t('act.copy')}
            clickTip={t('act.copied')}
            textAriaLabel={label}
            toggleAriaLabel={t('act.expand')}
            dir="ltr"
          >
            {text}
          </ClipboardCopy>
        </div>
      ))}
    </>
  );
}

export function Submit() {
  const { t } = useTranslation();
  const { me } = useSession();
  const navigate = useNavigate();
  const forget = useForget();
  const from = (useSearch({ strict: false }) as Search)['from'];
  const sets = useGet<ListOf<Schemas['dataset']>>('/v1/datasets', { page_size: 200 });
  const old = useGet<Schemas['job']>(`/v1/jobs/${encodeURIComponent(from ?? '')}`, {}, { enabled: from !== undefined });
  const form = (list: Schemas['dataset'][], job?: Schemas['job']) => {
    const spec = (job?.spec ?? {}) as Record<string, unknown>;
    const text = (x: unknown): string => (x === undefined || x === null ? '' : String(x));
    const fields: Field[] = [
      { name: 'name', label: t('col.name'), required: true, max: 128 },
      {
        name: 'dataset_id',
        label: t('nav.datasets'),
        kind: 'select',
        required: true,
        options: list.map((d) => ({ value: d.dataset_id!, label: d.name! })),
      },
      { name: 'hidden', label: t('submit.hidden'), help: t('submit.hiddenHelp'), pattern: /^\s*\d+(\s*,\s*\d+)*\s*$/ },
      { name: 'epochs', label: t('submit.epochs'), kind: 'number', min: 1 },
      { name: 'batch_size', label: t('submit.batch'), kind: 'number', min: 1 },
      { name: 'learning_rate', label: t('submit.rate'), kind: 'number', min: 0 },
      { name: 'seed', label: t('submit.seed'), kind: 'number' },
      {
        name: 'zone',
        label: t('col.zone'),
        kind: 'select',
        help: t('submit.zoneHelp'),
        options: [{ value: '', label: t('submit.anyZone') }, ...me.allowed_zones.map((z) => ({ value: z, label: z }))],
      },
      { name: 'slots', label: t('col.slots'), kind: 'number', min: 1, max: 4096 },
      { name: 'gpus', label: t('col.gpus'), kind: 'number', min: 0, max: 64 },
      { name: 'priority', label: t('col.priority'), kind: 'number', min: -1000, max: 1000 },
      { name: 'max_attempts', label: t('submit.attempts'), kind: 'number', min: 1, max: 100 },
      {
        name: 'max_runtime_seconds',
        label: t('submit.runtime'),
        kind: 'number',
        min: 1,
        max: 2592000,
        pattern: /^\d+$/,
      },
    ];
    const initial: Values = {
      hidden: '64,32',
      epochs: '30',
      seed: '1',
      slots: '1',
      ...(job
        ? {
            name: text(job.name),
            dataset_id: text(spec['dataset_id']),
            hidden: Array.isArray(spec['hidden']) ? spec['hidden'].join(',') : '',
            epochs: text(spec['epochs']),
            batch_size: text(spec['batch_size']),
            learning_rate: text(spec['learning_rate']),
            seed: text(spec['seed']),
            slots: text(job.slots),
            gpus: text(job.gpus),
            priority: text(job.priority),
            max_attempts: text(job.max_attempts),
          }
        : {}),
    };
    return (
      <ApiForm
        fields={fields}
        initial={initial}
        submit={t('submit.go')}
        extra={(f) => <Same form={f} fields={fields} />}
        onSubmit={async (v) => {
          const made = await change<Schemas['job']>('POST', '/v1/jobs', jobBody(fields, v));
          await forget('/v1/jobs');
          await navigate({ to: `/jobs/${made.job_id!}` });
        }}
      />
    );
  };
  return (
    <Page
      name={t('submit.title')}
      title={t('submit.title')}
      crumbs={[[t('nav.jobs'), '/jobs']]}
      api={['POST /v1/jobs']}
      cli={['falaj job submit NAME --dataset DATASET', 'falaj job submit --file request.json']}
    >
      <Answer of={sets}>
        {(page) =>
          page.data.length === 0 ? (
            <Empty
              title={t('datasets.empty')}
              body={t('submit.needData')}
              action={<To to="/datasets">{t('nav.datasets')}</To>}
              cli="falaj dataset create NAME --label label --classes 10"
            />
          ) : from === undefined ? (
            form(page.data)
          ) : (
            <Answer of={old}>{(j) => form(page.data, j)}</Answer>
          )
        }
      </Answer>
    </Page>
  );
}
