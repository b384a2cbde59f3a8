// SPDX-License-Identifier: Apache-2.0
// Idle.tsx - the notice of the organisation's idle rule: what a running job holds is not used, and when it is put aside for that.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { dateTime } from '../../lib/format.ts';
import { Alert } from '../../ui/alert.tsx';

/** The message names the moment; one that does not is told without it. */
const MOMENT = /\d{4}-\d\d-\d\dT[\d:.]+Z/;

/** It runs and was given notice; what it says of that is said here. */
export const hasNotice = (job: Schemas['job']): boolean => job.state === 'RUNNING' && job.reason === 'Idle';

export function Idle({ job }: { job: Schemas['job'] }) {
  const { t } = useTranslation();
  if (!hasNotice(job)) return null;
  const at = MOMENT.exec(job.message ?? '')?.[0];
  return (
    <Alert isInline isLiveRegion variant="warning" title={t('job.idleTitle')} className="block">
      <p>{at ? t('job.idleAt', { when: dateTime(at) }) : t('job.idleSoon')}</p>
    </Alert>
  );
}
