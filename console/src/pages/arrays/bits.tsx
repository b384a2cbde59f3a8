// SPDX-License-Identifier: Apache-2.0
// bits.tsx - what the list of arrays and the page of one share: how far it is, and what may be done.
import { Progress, ProgressMeasureLocation, ProgressSize } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { number } from '../../lib/format.ts';

/** Tasks whose job has ended, of all. */
export function Done({ of: a, large = false }: { of: Schemas['job_array']; large?: boolean }) {
  const { t } = useTranslation();
  const ended = a.completed + a.failed;
  return (
    <Progress
      aria-label={t('arrays.doneOf', { name: a.name })}
      value={ended}
      min={0}
      max={a.total}
      label={t('arrays.of', { n: number(ended), all: number(a.total) })}
      valueText={t('arrays.of', { n: number(ended), all: number(a.total) })}
      measureLocation={ProgressMeasureLocation.outside}
      size={large ? ProgressSize.lg : ProgressSize.sm}
      {...(a.failed > 0
        ? { variant: 'warning' as const }
        : a.completed === a.total
          ? { variant: 'success' as const }
          : {})}
    />
  );
}

/** Something can still be told it. */
export const isOpen = (a: Schemas['job_array']): boolean => a.state !== 'ENDED' && a.state !== 'CANCELLED';
