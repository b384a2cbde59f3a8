// SPDX-License-Identifier: Apache-2.0
// Roll.tsx - a deployment moves to another version or to other settings: the dialog that begins it, and how it stands.
import { Button } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, shortId, State, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { bodyOf, formFields } from '../../ui/form.tsx';
import { Note } from '../../ui/note.tsx';

type Of = { of: Schemas['deployment'] };
const pathOf = (d: Schemas['deployment']) => `/v1/deployments/${encodeURIComponent(d.deployment_id!)}` as const;

export function RollButton({ of }: Of) {
  const { t } = useTranslation();
  const forget = useForget();
  const knob = (name: string, word: string, max: number) => ({
    name,
    label: t(`deploy.${word}`),
    kind: 'number' as const,
    min: 0,
    max,
    help: t(`deploy.${word}Help`),
  });
  const fields = formFields(
    { name: 'model_version', label: t('col.version'), kind: 'number', min: 0, help: t('deploy.rollVersionHelp') },
    { name: 'slots', label: t('col.slots'), kind: 'number', min: 1, max: 4096, help: t('deploy.rollEmptyKeeps') },
    knob('max_batch_size', 'batchSize', 16384),
    knob('max_queue_delay_microseconds', 'queueDelay', 10_000_000),
    knob('max_queue_size', 'queueSize', 65536),
    knob('default_timeout_microseconds', 'timeout', 30_000_000),
    knob('max_sequences', 'sequences', 32),
    knob('max_context', 'context', 16384),
    knob('weight_bits', 'weightBits', 32),
    { name: 'allow_new_signature', label: t('deploy.newSignature'), kind: 'check' },
  );
  const initial = Object.fromEntries(fields.slice(1, -1).map((f) => [f.name, String(of[f.name as 'slots'] ?? '')]));
  return (
    <FormButton
      label={t('deploy.roll')}
      title={t('deploy.rollTitle')}
      variant="secondary"
      opens="roll"
      fields={fields}
      initial={{ model_version: '0', ...initial }}
      lead={<p>{t('deploy.rollLead')}</p>}
      onSubmit={async (v) => {
        await change('PATCH', pathOf(of), bodyOf(fields, v));
        await forget('/v1/deployments');
      }}
    />
  );
}

function Loading({ of }: Of) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const [isAsked, setAsked] = useState(false);
  const next = of.next_job_id ?? '';
  const job = useGet(`/v1/jobs/${encodeURIComponent(next)}`, {}, { enabled: can('job:read'), everyMs: 2000 });
  const stay = async () => {
    setAsked(true);
    const { model_version, slots, max_batch_size, max_queue_delay_microseconds, max_queue_size } = of;
    const { default_timeout_microseconds, max_sequences, max_context, weight_bits } = of;
    const knobs = {
      ...{ max_batch_size, max_queue_delay_microseconds, max_queue_size, default_timeout_microseconds },
      ...{ max_sequences, max_context, weight_bits },
    };
    await change('PATCH', pathOf(of), { model_version, slots, ...knobs }).finally(() => setAsked(false));
    await forget('/v1/deployments');
  };
  return (
    <Note title={t('deploy.rollLoading', { n: number(of.next_version) })}>
      <p>{t('deploy.rollLoadingBody', { old: number(of.model_version) })}</p>
      {job.data && (
        <p>
          {t('deploy.rollJob')}{' '}
          <To to={`/jobs/${next}`}>
            <Code>{shortId(next)}</Code>
          </To>{' '}
          <State value={job.data.state} /> {job.data.reason}
        </p>
      )}
      {can('deployment:write') && (
        <Button variant="link" isInline isDisabled={isAsked} onClick={() => void stay()}>
          {t('deploy.rollStay', { n: number(of.model_version) })}
        </Button>
      )}
    </Note>
  );
}

/** What a reader should know of the last roll; nothing where there is nothing. */
export function RollState({ of }: Of) {
  const { t } = useTranslation();
  const n = number(of.model_version);
  if (of.roll === 'LOADING') return <Loading of={of} />;
  if (of.roll === 'DRAINING')
    return (
      <Note variant="success" title={t('deploy.rollDraining', { n })}>
        {t('deploy.rollDrainingBody')}
      </Note>
    );
  if (of.roll !== 'FAILED') return null;
  return (
    <Note variant="warning" title={t('deploy.rollFailed')}>
      <p>{of.roll_error}</p>
      <p>{t('deploy.rollFailedBody', { n })}</p>
    </Note>
  );
}
