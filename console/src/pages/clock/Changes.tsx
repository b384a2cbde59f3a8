// SPDX-License-Identifier: Apache-2.0
// Changes.tsx - when one job will start by the queue clock, and which single changes would start it now, the least first.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { Code, Time, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';

const WORDS = new Set(['class', 'zone', 'pool', 'gpu_models']);

function Change({ of }: { of: Schemas['job_change'] }) {
  const { t } = useTranslation();
  const shown = (v: string | undefined): string =>
    WORDS.has(of.change)
      ? `\u2068${v ?? ''}\u2069`
      : of.change === 'memory_bytes'
        ? bytes(Number(v))
        : number(Number(v));
  return (
    <li data-change={of.change}>
      {t(`clock.change_${of.change}`, { from: shown(of.from), to: shown(of.to) })}{' '}
      <span className="subtle">
        {t('clock.thenIn')} <Code>{of.zone}</Code> <Code>{of.flavor}</Code>
      </span>
    </li>
  );
}

/** After what a job starts. */
export function After({ of }: { of: Schemas['clock_job'] }) {
  const { t } = useTranslation();
  if (!of.after) return null;
  const room = of.makes_room ? <> · {t('clock.makesRoom')}</> : null;
  if (!of.after_job_id)
    return (
      <>
        {t(of.after === 'dependency' ? 'clock.after_needed' : `clock.after_${of.after}`)}
        {room}
      </>
    );
  return (
    <>
      {t(`clock.after_${of.after}`)} <To to={`/jobs/${of.after_job_id}`}>{t('clock.thatJob')}</To>
      {room}
    </>
  );
}

/** title: the heading of the list, where the place has none of its own. */
export function Changes({ id }: { id: string }) {
  const { t } = useTranslation();
  const clock = useGet(`/v1/jobs/${id}/clock`, {}, { everyMs: 30_000 });
  return (
    <Answer of={clock}>
      {(c) => (
        <div className="clock-job">
          {c.state === 'later' && c.start && (
            <p>
              {t('clock.startsAt')} <Time at={c.start.at} /> · <After of={c.start} />
            </p>
          )}
          {c.state === 'now' && <p>{t('clock.startsNow')}</p>}
          {c.state === 'late' && <p>{t('clock.notWithin')}</p>}
          {c.changes.length > 0 && (
            <>
              <p>{t('clock.wouldStart')}</p>
              <ul className="clock-changes">
                {c.changes.map((x) => (
                  <Change key={x.change} of={x} />
                ))}
              </ul>
            </>
          )}
          {c.changes.length === 0 && (c.state === 'later' || c.state === 'late') && <p>{t('clock.noChange')}</p>}
        </div>
      )}
    </Answer>
  );
}
