// SPDX-License-Identifier: Apache-2.0
// Register.tsx - what a completed job has made becomes the next version of a model.
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { MODEL_MAKER } from '../../lib/jobtypes.ts';
import { useSession } from '../../shell/session.tsx';
import { shortId } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { SLUG, bodyOf, formFields } from '../../ui/form.tsx';

const JOBS_MAX = 100;

/** name: of the model that gets one more version; absent: it is asked for. */
export function RegisterButton({ name }: { name?: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const forget = useForget();
  const done = useGet(
    '/v1/jobs',
    { state: 'COMPLETED', kind: MODEL_MAKER, page_size: JOBS_MAX },
    { enabled: can('model:write') && can('job:read') },
  );
  const jobs = done.data?.data ?? [];
  if (!can('model:write') || jobs.length === 0) return null;
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, max: 63, help: t('models.nameHelp') },
    { name: 'description', label: t('col.description'), kind: 'area', max: 1024 },
    {
      name: 'job_id',
      label: t('models.job'),
      kind: 'select',
      required: true,
      options: jobs.map((j) => ({ value: j.job_id!, label: `${j.name!} · ${shortId(j.job_id)}` })),
    },
  );
  return (
    <FormButton
      label={t(name === undefined ? 'models.register' : 'models.registerNext')}
      title={t(name === undefined ? 'models.register' : 'models.registerNext')}
      variant={name === undefined ? 'primary' : 'secondary'}
      fields={fields}
      initial={{ name: name ?? '' }}
      onSubmit={async (v) => {
        const made = await change('POST', '/v1/models', bodyOf(fields, v));
        await forget('/v1/models');
        await navigate({ to: `/models/${made.model_id!}` });
      }}
    />
  );
}
