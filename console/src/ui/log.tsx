// SPDX-License-Identifier: Apache-2.0
// log.tsx - a log of any length in a window of few rows: search, follow, jump to the first error, download.
import { Button, SearchInput, Switch } from '@patternfly/react-core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client.ts';
import { saveAs } from '../lib/csv.ts';
import { clock, number } from '../lib/format.ts';

type Line = Schemas['job_log_line'];
const isBad = (l: Line): boolean =>
  l.stream === 'stderr' || /\b(error|fatal|traceback|exception|failed)\b/i.test(l.text ?? '');

export function Log({ lines, name, live }: { lines: Line[]; name: string; live: boolean }) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const [find, setFind] = useState('');
  const [follow, setFollow] = useState(live);
  const [found, setFound] = useState(-1);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 20,
    overscan: 20,
    measureElement: (e) => e.getBoundingClientRect().height,
  });
  const firstBad = useMemo(() => lines.findIndex(isBad), [lines]);
  useEffect(() => {
    if (follow && lines.length > 0) rows.scrollToIndex(lines.length - 1);
  }, [follow, lines.length, rows]);
  const jump = (i: number): void => {
    setFollow(false);
    setFound(i);
    if (i >= 0) rows.scrollToIndex(i, { align: 'center' });
  };
  const seek = (): void => {
    const word = find.toLowerCase();
    if (word === '') return;
    const ask = (from: number): number =>
      lines.findIndex((l, i) => i >= from && (l.text ?? '').toLowerCase().includes(word));
    const next = ask(found + 1);
    jump(next >= 0 ? next : ask(0));
  };
  return (
    <>
      <div className="log-tools">
        <SearchInput
          aria-label={t('log.find')}
          placeholder={t('log.find')}
          value={find}
          onChange={(_e, v) => setFind(v)}
          onSearch={seek}
          onClear={() => setFind('')}
          resetButtonLabel={t('act.clear')}
          submitSearchButtonLabel={t('act.search')}
        />
        <Button variant="secondary" isDisabled={firstBad < 0} onClick={() => jump(firstBad)}>
          {t('log.firstError')}
        </Button>
        <Switch label={t('log.follow')} isChecked={follow} onChange={(_e, on) => setFollow(on)} />
        <Button
          variant="secondary"
          onClick={() =>
            saveAs(
              `${name}.log`,
              lines.map((l) => `${l.at ?? ''} ${l.text ?? ''}`).join('\n'),
              'text/plain;charset=utf-8',
            )
          }
        >
          {t('act.download')}
        </Button>
        <span className="lead">{t('log.lines', { count: lines.length, n: number(lines.length) })}</span>
      </div>
      {/* A scrolled region has to be reachable by keyboard. */}
      <div
        className="log"
        ref={box}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('job.logs')}
        dir="ltr"
        translate="no"
      >
        <div className="log-size" ref={(e) => void (e && (e.style.blockSize = `${rows.getTotalSize()}px`))}>
          {rows.getVirtualItems().map((v) => {
            const l = lines[v.index]!;
            return (
              <div
                key={l.log_id}
                data-index={v.index}
                className={`log-line${isBad(l) ? ' bad' : ''}${v.index === found ? ' found' : ''}`}
                ref={(e) => {
                  if (e) {
                    e.style.transform = `translateY(${v.start}px)`;
                    rows.measureElement(e);
                  }
                }}
              >
                <time>{clock(l.at)}</time>
                <bdi>{l.text}</bdi>
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}
