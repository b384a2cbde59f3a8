// SPDX-License-Identifier: Apache-2.0
// log.tsx - a log of any length in a window of few rows. The address has its filters, and #L… the line that is selected.
import { Button, Switch } from '@patternfly/react-core';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LINES_MAX, type JobLog, type LogLine as Line } from '../api/joblog.ts';
import { number } from '../lib/format.ts';
import type { Search } from '../lib/search.ts';
import { placeOf } from '../lib/loglevel.ts';
import { lineLevel, useMatches } from './logfind.ts';
import { LogTools, type LogLook } from './logtools.tsx';
import { LogWindow, type LogWindowHandle } from './logwindow.tsx';
import { toast } from './toast.tsx';
import './log.css';

const LOOK = 'falaj.log';
const readLook = (): LogLook => {
  try {
    return { wrap: false, times: true, ...(JSON.parse(localStorage.getItem(LOOK) ?? '{}') as Partial<LogLook>) };
  } catch {
    return { wrap: false, times: true };
  }
};

export function Log({ log, name, live, failed }: { log: JobLog; name: string; live: boolean; failed: boolean }) {
  const { t } = useTranslation();
  const { lines } = log;
  const rows = useRef<LogWindowHandle>(null);
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const { hash, pathname } = useLocation();
  const [look, setLookState] = useState(readLook);
  const selected = /^L(\d+)$/.test(hash) ? Number(hash.slice(1)) : 0;
  const [whole, setWhole] = useState(false);
  const [follow, setFollow] = useState(live && selected === 0);
  const view = {
    q: search['q'] ?? '',
    level: search['level'] ?? '',
    stream: search['stream'] ?? '',
    fence: search['fence'] ?? '',
    only: search['only'] === '1',
  };
  const setLook = (next: LogLook): void => {
    setLookState(next);
    try {
      localStorage.setItem(LOOK, JSON.stringify(next));
    } catch {
      /* a browser without storage forgets at reload */
    }
  };
  const put = (key: string, value: string): void => {
    const next: Search = { ...search, tab: 'logs', [key]: value };
    if (value === '') delete next[key];
    void navigate({ to: '.', search: next as never, hash, replace: true, resetScroll: false });
  };
  const select = useCallback(
    (id: number): void => {
      setFollow(false);
      void navigate({
        to: '.',
        search: (old: object) => ({ ...old, tab: 'logs' }) as never,
        hash: `L${id}`,
        replace: true,
        resetScroll: false,
        hashScrollIntoView: false,
      });
    },
    [navigate],
  );

  const base = useMemo(() => {
    if (view.level === '' && view.stream === '' && view.fence === '') return lines;
    return lines.filter(
      (l) =>
        (view.stream === '' || l.stream === view.stream) &&
        (view.fence === '' || l.fence === Number(view.fence)) &&
        (view.level === '' || lineLevel(l) === 'error' || (view.level === 'warn' && lineLevel(l) === 'warn')),
    );
  }, [lines, view.level, view.stream, view.fence]);
  const { regex, fault, hits } = useMatches(base, view.q);
  const shown = useMemo(
    () => (view.only && hits !== null && regex !== null ? hits.map((i) => base[i]!) : base),
    [base, hits, regex, view.only],
  );
  const errors = useMemo(() => lines.filter((l) => lineLevel(l) === 'error'), [lines]);
  const fences = useMemo(() => [...new Set(lines.map((l) => l.fence))].sort((a, b) => a - b), [lines]);

  // A log that ended badly is read from its error, any other one from its end.
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    if (opened || lines.length === 0) return;
    setOpened(true);
    // The page stays where its name and its acts are seen: only the log's own box goes to the line.
    if (selected !== 0) return;
    if (failed && log.error) select(log.error.log_id);
    else rows.current?.scrollTo(shown.length - 1, 'end');
  }, [opened, lines, log, failed, selected, select, shown.length]);
  const there = selected !== 0 && lines.length > 0;
  const held = there && lines[0]!.log_id <= selected && selected <= lines.at(-1)!.log_id;
  useEffect(() => {
    if (there && !held) void log.open(selected);
  }, [there, held, log, selected]);
  useEffect(() => {
    if (!held) return;
    const i = placeOf(shown, selected);
    if (shown[i]?.log_id === selected) rows.current?.scrollTo(i, 'center');
    // Only another line is scrolled to, not the same one again when the log grows.
  }, [selected, held, look.wrap]);
  useEffect(() => {
    if (follow && shown.length > 0) rows.current?.scrollTo(shown.length - 1, 'end');
  }, [follow, shown.length]);

  const onNear = useCallback(
    (border: 'top' | 'end'): void => {
      if (log.lines.length >= LINES_MAX) return;
      if (border === 'top' && !log.atStart) void log.older();
      if (border === 'end' && !log.atEnd) void log.newer();
    },
    [log],
  );

  /** From the selected line, or the one at the top of the window, to the next of these. */
  const step = (of: readonly Line[], by: 1 | -1): void => {
    if (of.length === 0) return;
    const first = shown[rows.current?.top() ?? 0]?.log_id ?? 0;
    const from = selected !== 0 ? selected : first - (by > 0 ? 1 : 0);
    const i = by > 0 ? placeOf(of, from + 1) : placeOf(of, from) - 1;
    select(of[(i + of.length) % of.length]!.log_id);
  };
  const hitLines = useMemo(() => (hits ?? []).map((i) => base[i]!), [hits, base]);
  const hitAt = selected === 0 ? -1 : placeOf(hitLines, selected);
  const stepLine = useRef(step);
  stepLine.current = step;
  const shownNow = useRef(shown);
  shownNow.current = shown;
  useEffect(() => {
    const at = rows.current?.box;
    if (!at) return undefined;
    const keys = (e: KeyboardEvent): void => {
      if (!e.shiftKey || (e.key !== 'ArrowDown' && e.key !== 'ArrowUp')) return;
      e.preventDefault();
      stepLine.current(shownNow.current, e.key === 'ArrowDown' ? 1 : -1);
    };
    const wheel = (e: WheelEvent): void => void (e.deltaY < 0 && setFollow(false));
    at.addEventListener('keydown', keys);
    at.addEventListener('wheel', wheel, { passive: true });
    return () => {
      at.removeEventListener('keydown', keys);
      at.removeEventListener('wheel', wheel);
    };
  }, []);
  const toFirst = async (): Promise<void> => {
    const line = log.error ?? (await log.firstError());
    if (line && line.log_id === selected) rows.current?.scrollTo(placeOf(shown, selected), 'center');
    else if (line) select(line.log_id);
  };
  const partly = !log.atStart || !log.atEnd;
  return (
    <>
      <LogTools
        view={view}
        put={put}
        fault={fault}
        hits={regex === null ? null : (hits?.length ?? null)}
        hit={hitLines[hitAt]?.log_id === selected && selected !== 0 ? hitAt + 1 : 0}
        onHit={(by) => step(hitLines, by)}
        errors={errors.length}
        onError={(by) => (by === 0 ? void toFirst() : step(errors, by))}
        fences={fences}
        look={look}
        setLook={setLook}
      />
      <LogWindow
        ref={rows}
        shown={shown}
        held={lines.length}
        armed={opened}
        look={look}
        regex={regex}
        selected={selected}
        numberOf={log.numberOf}
        href={`${pathname}?tab=logs`}
        onSelect={select}
        onNear={onNear}
      />
      <div className="log-tools">
        {live && <Switch label={t('log.follow')} isChecked={follow} onChange={(_e, on) => setFollow(on)} />}
        <span className="lead" role="status">
          {shown.length < lines.length
            ? t('log.someLines', { count: shown.length, n: number(shown.length), total: number(lines.length) })
            : t(partly ? 'log.loaded' : 'log.lines', { count: lines.length, n: number(lines.length) })}
          {errors.length > 0 && ` · ${t('log.errorCount', { count: errors.length, n: number(errors.length) })}`}
        </span>
        {partly && (
          <>
            <Button
              variant="secondary"
              size="sm"
              isDisabled={whole || lines.length >= LINES_MAX}
              isLoading={whole}
              spinnerAriaValueText={t('state.loading')}
              onClick={() => {
                setWhole(true);
                void log.whole().finally(() => setWhole(false));
              }}
            >
              {t('log.whole')}
            </Button>
            <Button variant="secondary" size="sm" onClick={() => void log.open().then(() => setFollow(live))}>
              {t('log.toEnd')}
            </Button>
          </>
        )}
        <a
          className="pf-v6-c-button pf-m-secondary pf-m-small"
          href={`/v1/jobs/${name}/log.txt`}
          download={`${name}.log`}
        >
          {t('act.download')}
        </a>
        <Button
          variant="secondary"
          size="sm"
          isDisabled={selected === 0}
          onClick={() =>
            void navigator.clipboard
              .writeText(`${location.origin}${pathname}?tab=logs#L${selected}`)
              .then(() => toast(t('act.copied'), 'success'))
          }
        >
          {t('log.copyLink')}
        </Button>
      </div>
    </>
  );
}
