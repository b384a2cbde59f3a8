// SPDX-License-Identifier: Apache-2.0
// Config.tsx - what was asked for and what came out; what was asked for beside that of another job.
import { Button, FormGroup, FormSelect, FormSelectOption, TextInput } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { diff } from '../../lib/beside.ts';
import { relative } from '../../lib/format.ts';
import type { Search } from '../../lib/search.ts';
import { Json, Name, To } from '../../ui/bits.tsx';
import { DiffTable } from '../../ui/diff.tsx';
import { Answer } from '../../ui/states.tsx';

type Job = Schemas['job'];
const ID = /^job_[0-9a-f]{32}$/;
/** What was asked for beside the spec. */
const asked = (j: Job): unknown => ({
  ...(j.spec as object),
  zone: j.zone,
  pool: j.pool,
  queue: j.queue,
  slots: j.slots,
  gpus: j.gpus,
  priority: j.priority,
  data_class: j.data_class,
  max_attempts: j.max_attempts,
  retry: j.retry,
  max_runtime_s: j.max_runtime_s,
});

function Other({ job, id }: { job: Job; id: string }) {
  const { t } = useTranslation();
  const other = useGet(`/v1/jobs/${id}`);
  return (
    <Answer of={other}>
      {(o) => (
        <DiffTable
          label={t('diff.title')}
          rows={diff([asked(job), asked(o)])}
          keys={['this', 'other']}
          heads={[
            <Name key="a">{job.name}</Name>,
            <To key="b" to={`/jobs/${id}`}>
              <Name>{o.name}</Name>
            </To>,
          ]}
        />
      )}
    </Answer>
  );
}

export function Config({ job }: { job: Job }) {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const list = useGet('/v1/jobs', { page_size: 50, kind: job.kind });
  const vs = ID.test(search['vs'] ?? '') ? search['vs']! : '';
  const put = (id: string): void => {
    void navigate({ to: '.', search: { ...search, vs: id } as never, replace: true });
  };
  const others = (list.data?.data ?? []).filter((j) => j.job_id !== job.job_id);
  const bad = typed !== '' && !ID.test(typed.trim());
  return (
    <>
      <h2 className="block">{t('diff.title')}</h2>
      <div className="diff-tools">
        <FormSelect
          aria-label={t('diff.choose')}
          value={vs}
          onChange={(_e, v) => put(v)}
          className="diff-choose"
          translate="no"
        >
          <FormSelectOption value="" label={t('diff.choose')} />
          {vs !== '' && !others.some((j) => j.job_id === vs) && <FormSelectOption value={vs} label={vs} />}
          {others.map((j) => (
            <FormSelectOption
              key={j.job_id}
              value={j.job_id!}
              label={`\u2068${j.name ?? ''}\u2069 · ${relative(j.submitted_at)}`}
            />
          ))}
        </FormSelect>
        <FormGroup>
          <TextInput
            aria-label={t('diff.byId')}
            placeholder={t('diff.byId')}
            value={typed}
            validated={bad ? 'error' : 'default'}
            onChange={(_e, v) => setTyped(v)}
            onKeyDown={(e) => e.key === 'Enter' && ID.test(typed.trim()) && put(typed.trim())}
          />
        </FormGroup>
        <Button
          variant="secondary"
          isDisabled={!ID.test(typed.trim())}
          onClick={() => {
            put(typed.trim());
            setTyped('');
          }}
        >
          {t('diff.show')}
        </Button>
      </div>
      {vs !== '' && <Other job={job} id={vs} />}
      <h2 className="block">{t('job.config')}</h2>
      <Json value={job.spec} label={t('job.config')} />
      {job.result !== undefined && job.result !== null && (
        <>
          <h2 className="block">{t('job.result')}</h2>
          <Json value={job.result} label={t('job.result')} />
        </>
      )}
    </>
  );
}
