// SPDX-License-Identifier: Apache-2.0
// Clock.tsx - what will start when, where and after what, if all goes on as it is: own jobs one by one, of others
// sums by zone. The platform's people see who will hold what, and no jobs.
import { ExpandableSection, ToggleGroup, ToggleGroupItem } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { Code, Name, Time, To } from '../../ui/bits.tsx';
import { Grid } from '../../ui/grid.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { Reason } from '../job/Waiting.tsx';
import { After, Changes } from './Changes.tsx';
import { Steps } from './Steps.tsx';
import type { Measure } from './sums.ts';
import './clock.css';

type ClockJob = Schemas['clock_job'];
const HOURS = ['6', '24', '168'] as const;
const PACE_MS = 30_000;

/** From when to when, within the time looked at. */
function Lane({ of, from, until }: { of: ClockJob; from: number; until: number }) {
  const part = (at: string | undefined): number =>
    at === undefined ? 100 : Math.min(100, Math.max(0, ((Date.parse(at) - from) / (until - from)) * 100));
  const begin = part(of.at);
  return (
    <svg className="clock-lane" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect className="clock-track" width="100" height="10" />
      <rect
        className={of.after ? 'bars-1' : 'bars-0'}
        x={begin}
        width={Math.max(0.7, part(of.ends_at) - begin)}
        height="10"
      />
    </svg>
  );
}

function Why({ id, reason, detail }: { id: string; reason: string | undefined; detail: string | undefined }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Reason code={reason} />
      {detail && (
        <div className="subtle">
          <bdi lang="en" dir="ltr" translate="no">
            {detail}
          </bdi>
        </div>
      )}
      <ExpandableSection toggleText={t('clock.whatNow')} isExpanded={open} onToggle={(_e, now) => setOpen(now)}>
        {open && <Changes id={id} />}
      </ExpandableSection>
    </>
  );
}

function Jobs({ of, from, until }: { of: Schemas['queue_clock']; from: number; until: number }) {
  const { t } = useTranslation();
  const job = (j: { job_id?: string; name?: string }): ReactNode => (
    <To to={`/jobs/${j.job_id!}`}>
      <Name>{j.name}</Name>
    </To>
  );
  const end = (j: ClockJob): ReactNode =>
    j.ends_at ? (
      <>
        <Time at={j.ends_at} />{' '}
        <span className="subtle">{t(j.leaves_at ? 'clock.leaves' : `clock.basis_${j.basis ?? 'limit'}`)}</span>
      </>
    ) : (
      t('clock.stays')
    );
  const asks = (j: { slots: number; gpus: number; nodes?: number }): string => {
    const each = { slots: number(j.slots), gpus: number(j.gpus) };
    return (j.nodes ?? 1) > 1 ? t('clock.asksEach', { ...each, nodes: number(j.nodes!) }) : t('clock.asks', each);
  };
  const place = (j: ClockJob): ReactNode => (
    <>
      <Code>{j.zone}</Code> <Code>{j.flavor}</Code>
    </>
  );
  const lane = (j: ClockJob): ReactNode => <Lane of={j} from={from} until={until} />;
  const where = (j: ClockJob): ReactNode => (
    <>
      {place(j)}
      <div className="subtle">{asks(j)}</div>
    </>
  );
  const ends = (j: ClockJob): ReactNode => (
    <>
      {end(j)}
      {lane(j)}
    </>
  );
  return (
    <>
      <h2 className="block">{t('clock.starts')}</h2>
      {of.starts.length === 0 && <p className="subtle">{t('clock.noStarts')}</p>}
      {of.starts.length > 0 && (
        <Grid
          className="clock-rows"
          label={t('clock.starts')}
          heads={[t('col.name'), t('clock.when'), t('clock.until'), t('clock.place'), t('clock.why')]}
          rows={of.starts.map((j) => ({
            id: `${j.job_id!} ${j.at!}`,
            cells: [
              job(j),
              <>
                <Time key="w" at={j.at} />
                <div className="subtle">
                  {t('clock.afterWhat')} <After of={j} />
                </div>
              </>,
              ends(j),
              where(j),
              j.after === 'now' ? '' : <Why key="y" id={j.job_id!} reason={j.reason} detail={j.detail} />,
            ],
          }))}
        />
      )}
      {of.late.length > 0 && (
        <>
          <h2 className="block">{t('clock.late')}</h2>
          <Grid
            className="clock-rows"
            label={t('clock.late')}
            heads={[t('col.name'), t('clock.wants'), t('clock.why')]}
            rows={of.late.map((j) => ({
              id: j.job_id!,
              cells: [job(j), asks(j), <Why key="y" id={j.job_id!} reason={j.reason} detail={j.detail} />],
            }))}
          />
        </>
      )}
      <h2 className="block">{t('clock.running')}</h2>
      {of.running.length === 0 && <p className="subtle">{t('clock.noRunning')}</p>}
      {of.running.length > 0 && (
        <Grid
          className="clock-rows"
          label={t('clock.running')}
          heads={[t('col.name'), t('clock.since'), t('clock.until'), t('clock.place')]}
          rows={of.running.map((j) => ({
            id: j.job_id!,
            cells: [job(j), <Time key="w" at={j.at} />, ends(j), where(j)],
          }))}
        />
      )}
    </>
  );
}

function Picture({ of, measure }: { of: Schemas['queue_clock']; measure: Measure }) {
  const from = Date.parse(of.at),
    until = Date.parse(of.until!);
  return (
    <>
      {of.zones
        .filter((z) => z[measure] > 0)
        .map((z) => (
          <section key={z.zone} className="clock-zone">
            <h2>
              <Code>{z.zone}</Code>
            </h2>
            <Steps zone={z} from={from} until={until} measure={measure} />
          </section>
        ))}
    </>
  );
}

function ClockOf({ platform }: { platform: boolean }) {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const hours = HOURS.find((h) => h === search['hours']) ?? '24';
  const measure: Measure = search['measure'] === 'gpus' ? 'gpus' : 'slots';
  const path = platform ? '/v1/system/queue/clock' : '/v1/queue/clock';
  const clock = useGet(path, { hours: Number(hours) }, { everyMs: PACE_MS });
  const put = (name: string, value: string): void =>
    void navigate({ to: '.', search: withFilter(search, name, value) as never });
  const pick = (name: string, label: string, now: string, options: [value: string, text: string][]) => (
    <ToggleGroup aria-label={label}>
      {options.map(([v, text]) => (
        <ToggleGroupItem
          key={v}
          buttonId={`clock-${v}`}
          text={text}
          isSelected={now === v}
          onChange={() => put(name, v)}
        />
      ))}
    </ToggleGroup>
  );
  return (
    <Page
      name={t('nav.clock')}
      title={t('nav.clock')}
      lead={t(platform ? 'clock.leadPlatform' : 'clock.lead')}
      api={[`GET ${path}?hours=${hours}`]}
      cli={platform ? [`falaj api GET ${path}?hours=${hours}`] : [`falaj job clock --hours ${hours}`]}
    >
      <div className="row-of-tools">
        {pick(
          'hours',
          t('clock.howFar'),
          hours,
          HOURS.map((h) => [h, h === '168' ? t('clock.week') : t('clock.hours', { count: Number(h) })]),
        )}
        {pick('measure', t('clock.ofWhat'), measure, [
          ['slots', t('clock.slots')],
          ['gpus', t('clock.gpus')],
        ])}
      </div>
      <Answer of={clock}>
        {(c) => (
          <>
            {c.is_partial && <Note variant="warning" title={t('clock.partial')} />}
            <p className="block">
              {t('clock.asOf')} <Time at={c.at} /> ·{' '}
              {t('clock.others_running', { count: c.others_running, n: number(c.others_running) })} ·{' '}
              {t('clock.others_waiting', { count: c.others_waiting, n: number(c.others_waiting) })}
            </p>
            {c.zones.some((z) => z[measure] > 0) ? (
              <Picture of={c} measure={measure} />
            ) : (
              <Empty title={t('clock.nothing')} body={t('clock.nothingBody')} />
            )}
            {!platform && <Jobs of={c} from={Date.parse(c.at)} until={Date.parse(c.until!)} />}
          </>
        )}
      </Answer>
    </Page>
  );
}

export const Clock = () => <ClockOf platform={false} />;
export const PlatformClock = () => <ClockOf platform />;
