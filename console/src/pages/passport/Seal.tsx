// SPDX-License-Identifier: Apache-2.0
// Seal.tsx - "verified", and by what: each event that names this data set is hashed here and led to the root of the signed
// head. A reader whose newest reading is not among them breaks the seal as a false hash does.
import { CheckCircleIcon, ExclamationTriangleIcon, HourglassHalfIcon } from '@patternfly/react-icons';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { get, type Schemas } from '../../api/client.ts';
import { sealOf, type Sealed } from '../../api/place.ts';
import { number } from '../../lib/format.ts';
import { Code } from '../../ui/bits.tsx';

/** As many events are checked, the oldest first: each takes a proof of its own. */
const EVENTS_MAX = 100;

interface Found extends Sealed {
  whole: boolean;
  missing: number;
}
async function look(id: string, readers: Schemas['passport_reader'][]): Promise<Found> {
  const { data } = await get('/v1/audit/events', { resource: id, page_size: EVENTS_MAX });
  const seal = await sealOf(data);
  const whole = data.length < EVENTS_MAX;
  const there = new Set(data.map((e) => e.event_id));
  return { ...seal, whole, missing: whole ? readers.filter((r) => !there.has(r.last_event)).length : 0 };
}

export function Seal({ id, readers }: { id: string; readers: Schemas['passport_reader'][] }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: ['passport seal', id, readers.map((r) => r.last_tseq)],
    queryFn: () => look(id, readers),
    staleTime: Infinity,
  });
  const s = found.data;
  const state = !s
    ? found.isError
      ? 'failed'
      : 'checking'
    : s.bad || s.missing > 0
      ? 'broken'
      : s.good === 0
        ? 'young'
        : 'verified';
  const Icon =
    state === 'verified' ? CheckCircleIcon : state === 'broken' ? ExclamationTriangleIcon : HourglassHalfIcon;
  return (
    <div className={`seal is-${state}`} role="status">
      <Icon />
      <div>
        <strong>{t(`passport.seal_${state}`)}</strong>
        {s && state === 'verified' && (
          <p>
            {t('passport.sealBody', { count: s.good, n: number(s.good), size: number(s.head.size) })}{' '}
            {!s.whole && t('passport.sealPart', { n: number(EVENTS_MAX) })}
            {s.young > 0 && ` ${t('passport.sealYoung', { count: s.young, n: number(s.young) })}`}
          </p>
        )}
        {s?.bad && <p>{t('passport.sealBad', { n: number(s.bad.tseq) })}</p>}
        {s && s.missing > 0 && <p>{t('passport.sealMissing', { count: s.missing, n: number(s.missing) })}</p>}
        {s && s.head.size > 0 && (
          <p className="seal-root">
            {t('passport.root')} <Code>{s.head.root}</Code>
          </p>
        )}
      </div>
    </div>
  );
}
