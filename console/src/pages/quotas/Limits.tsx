// SPDX-License-Identifier: Apache-2.0
// Limits.tsx - the tenant's quotas as bars: what is held of what may be held. The platform's operator sets these.
import { Progress } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { Answer } from '../../ui/states.tsx';

type Quota = Schemas['quota'];
const amount = (q: Quota, n: number): string => (q.resource === 'stored_bytes' ? bytes(n) : number(n));

export function QuotaBars({ everyMs = 10_000 }: { everyMs?: number }) {
  const { t, i18n } = useTranslation();
  const quotas = useGet('/v1/quotas', {}, { everyMs });
  return (
    <Answer of={quotas}>
      {(page) => (
        <>
          {page.data.map((q) => {
            const key = `quota.${q.resource!}`;
            const name = i18n.exists(key) ? t(key) : q.resource!;
            const share = q.hard_limit > 0 ? Math.min(1, q.used / q.hard_limit) : 0;
            return (
              <Progress
                key={q.resource}
                className="meter"
                title={name}
                size="sm"
                value={Math.round(100 * share)}
                label={t('overview.of', { used: amount(q, q.used), limit: amount(q, q.hard_limit) })}
                measureLocation="top"
                aria-label={name}
                {...(share >= 1 ? { variant: 'danger' as const } : share >= 0.8 ? { variant: 'warning' as const } : {})}
              />
            );
          })}
        </>
      )}
    </Answer>
  );
}
