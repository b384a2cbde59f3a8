// SPDX-License-Identifier: Apache-2.0
// Shell.tsx - a terminal in a running program: a shell as long as the page is open. In a chunk of its own with its library.
//
// Tab belongs to the shell, so a key of its own leads out (WCAG 2.1.2), and is told beside it. What a program writes is drawn and
// obeyed as a terminal does, but it opens no link, changes no title and reads no clipboard.
import { Button } from '@patternfly/react-core';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { openShell, type Shell as Stream } from '../../api/inside.ts';
import { number } from '../../lib/format.ts';
import { Brake, type End } from '../../lib/inside.ts';
import { Alert } from '../../ui/alert.tsx';
import { Code } from '../../ui/bits.tsx';
import { Failure } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';

const KEYS = 'Ctrl+Shift+Space';
const KEPT_LINES = 5000;
const [LEAST_COLS, LEAST_ROWS, MOST] = [20, 5, 1000];
/** OSC: a link that a program names, and what it would put into the clipboard. */
const REFUSED_OSC = [8, 52];

const bounded = (n: number, least: number): number => Math.min(MOST, Math.max(least, Math.floor(n)));
/** As many columns and lines as the box has room for. */
function fit(term: Terminal, box: HTMLElement): void {
  const screen = box.querySelector('.xterm-screen');
  if (!screen || screen.clientWidth === 0 || box.clientWidth === 0) return;
  const room = getComputedStyle(box);
  const width = box.clientWidth - Number.parseFloat(room.paddingInlineStart) - Number.parseFloat(room.paddingInlineEnd);
  const height = box.clientHeight - Number.parseFloat(room.paddingBlockStart) - Number.parseFloat(room.paddingBlockEnd);
  const cols = bounded((width / screen.clientWidth) * term.cols, LEAST_COLS);
  const rows = bounded((height / screen.clientHeight) * term.rows, LEAST_ROWS);
  if (cols !== term.cols || rows !== term.rows) term.resize(cols, rows);
}

function made(box: HTMLElement, label: string): Terminal {
  const term = new Terminal({
    scrollback: KEPT_LINES,
    screenReaderMode: true,
    minimumContrastRatio: 4.5,
    fontSize: 14,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--pf-t--global--font--family--mono'),
    theme: { background: '#151515', foreground: '#f2f2f2' },
    allowProposedApi: false,
  });
  for (const code of REFUSED_OSC) term.parser.registerOscHandler(code, () => true);
  term.open(box);
  term.textarea?.setAttribute('aria-label', label);
  term.textarea?.setAttribute('aria-describedby', 'terminal-keys');
  fit(term, box);
  return term;
}

type State = { is: 'opening' | 'open' } | { is: 'refused'; problem: unknown } | { is: 'over'; end: End };

/** How it ended, in words. */
function Ended({ end }: { end: End }) {
  const { t, i18n } = useTranslation();
  const key = `inside.end_${end.reason ?? (end.exit === undefined ? 'not_begun' : 'ended')}`;
  return (
    <Alert
      isInline
      isLiveRegion
      variant={end.exit === undefined && end.reason !== 'person_left' ? 'warning' : 'info'}
      title={i18n.exists(key) ? t(key, { n: number(end.exit ?? 0) }) : t('inside.end_cut')}
    >
      {end.error && (!end.reason || !i18n.exists(key)) && <Code>{end.error}</Code>}
      <p>{t('inside.notAgain')}</p>
    </Alert>
  );
}

export function Shell({ job, rank, close }: { job: string; rank: number; close: () => void }) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const way = useRef<HTMLButtonElement>(null);
  const term = useRef<Terminal>(undefined);
  const [state, setState] = useState<State>({ is: 'opening' });
  const [turn, setTurn] = useState(0);
  const label = t('inside.terminal');
  const named = useRef(label); // the shell goes on where the reader's language becomes another
  const copy = useCallback(() => {
    const text = term.current?.getSelection() ?? '';
    if (text === '') toast(t('inside.nothingChosen'), 'info');
    else
      void navigator.clipboard.writeText(text).then(
        () => toast(t('act.copied')),
        () => toast(t('act.notCopied'), 'danger'),
      );
  }, [t]);
  const copies = useRef(copy);
  useEffect(() => {
    copies.current = copy;
    named.current = label;
    term.current?.textarea?.setAttribute('aria-label', label);
  }, [copy, label]);

  useEffect(() => {
    const at = box.current!;
    const shown = made(at, named.current);
    const brake = new Brake();
    let stream: Stream | undefined;
    let isGone = false;
    term.current = shown;
    shown.attachCustomKeyEventHandler((e) => {
      if (!e.ctrlKey || !e.shiftKey || e.altKey || e.metaKey) return true;
      if (e.code === 'Space' || e.code === 'KeyC') {
        e.preventDefault();
        if (e.type === 'keydown' && e.code === 'KeyC') copies.current();
        else if (e.type === 'keydown') way.current?.focus();
        return false;
      }
      return e.code !== 'KeyV'; // the browser's own paste, as plain text
    });
    shown.onData((text) => stream?.type(text));
    shown.onBinary((text) => stream?.type(text, true));
    shown.onResize(({ cols, rows }) => stream?.resize(cols, rows));
    const watch = new ResizeObserver(() => fit(shown, at));
    watch.observe(at);
    setState({ is: 'opening' });
    openShell(
      job,
      rank,
      { cols: shown.cols, rows: shown.rows },
      {
        opened: () => {
          if (isGone) return;
          setState({ is: 'open' });
          shown.focus();
        },
        output: (bytes) => {
          if (brake.add(bytes.length)) stream?.pause(true);
          shown.write(bytes, () => brake.drawn(bytes.length) && stream?.pause(false));
        },
        ended: (end) => {
          if (isGone) return;
          // What was written last is drawn first.
          shown.write('', () => {
            shown.options.disableStdin = true;
            setState({ is: 'over', end });
          });
        },
      },
    ).then(
      (s) => {
        stream = s;
        if (isGone) s.leave();
        else s.resize(shown.cols, shown.rows);
      },
      (problem: unknown) => !isGone && setState({ is: 'refused', problem }),
    );
    return () => {
      isGone = true;
      watch.disconnect();
      stream?.leave();
      shown.dispose();
    };
  }, [job, rank, turn]);

  return (
    <section aria-label={label} className="shell block">
      <p id="terminal-keys" className="lead">
        {t('inside.keys', {
          keys: `\u2068${KEYS}\u2069`,
          copy: '\u2068Ctrl+Shift+C\u2069',
          paste: '\u2068Ctrl+Shift+V\u2069',
        })}
      </p>
      <div ref={box} className="terminal" dir="ltr" translate="no" data-state={state.is} />
      <div className="shell-foot">
        <Button ref={way} variant="secondary" onClick={close}>
          {t('inside.close')}
        </Button>
        <Button variant="link" onClick={copy}>
          {t('inside.copy')}
        </Button>
        {(state.is === 'over' || state.is === 'refused') && (
          <Button variant="primary" onClick={() => setTurn(turn + 1)}>
            {t('inside.another')}
          </Button>
        )}
        <span role="status">{state.is === 'opening' ? t('inside.opening') : ''}</span>
      </div>
      {state.is === 'over' && <Ended end={state.end} />}
      {state.is === 'refused' && <Failure problem={state.problem} />}
    </section>
  );
}
