// SPDX-License-Identifier: Apache-2.0
// Typing.tsx - a line at a time to the standard input of a program that asked for one. What it writes stands in the job's log: a
// second way would have to hide secrets again (ADR 0155). To leave ends nothing; the end of its input is said by itself.
import { Button, Content, Form, TextInput } from '@patternfly/react-core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { openTyping, type Typing as Stream } from '../../api/inside.ts';
import { number } from '../../lib/format.ts';
import type { End } from '../../lib/inside.ts';
import { Alert } from '../../ui/alert.tsx';
import { Code } from '../../ui/bits.tsx';
import { Failure } from '../../ui/states.tsx';

type State =
  | { is: 'closed' | 'opening' | 'open' }
  | { is: 'refused'; problem: unknown }
  | { is: 'over'; end: End; isWhole: boolean };

function Ended({ end, isWhole }: { end: End; isWhole: boolean }) {
  const { t, i18n } = useTranslation();
  const key = `inside.end_${end.reason ?? 'cut'}`;
  if (isWhole && !end.reason) return <Alert isInline isLiveRegion variant="info" title={t('inside.typeOver')} />;
  return (
    <Alert
      isInline
      isLiveRegion
      variant={end.reason === 'person_left' ? 'info' : 'warning'}
      title={i18n.exists(key) ? t(key) : t('inside.end_cut')}
    >
      {end.error && <Code>{end.error}</Code>}
    </Alert>
  );
}

export function Typing({ job, rank, why }: { job: string; rank: number; why: boolean }) {
  const { t } = useTranslation();
  const [state, setState] = useState<State>({ is: 'closed' });
  const [line, setLine] = useState('');
  const [sent, setSent] = useState(0);
  const stream = useRef<Stream>(undefined);
  const isGone = useRef(false);
  const isWhole = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      stream.current?.leave();
    };
  }, []);
  const isOpen = state.is === 'open';
  useEffect(() => {
    if (isOpen) field.current?.focus();
  }, [isOpen]);
  const begin = (): void => {
    isWhole.current = false;
    setSent(0);
    setState({ is: 'opening' });
    openTyping(job, rank, {
      opened: () => !isGone.current && setState({ is: 'open' }),
      ended: (end) => !isGone.current && setState({ is: 'over', end, isWhole: isWhole.current }),
    }).then(
      (s) => {
        stream.current = s;
        if (isGone.current) s.leave();
      },
      (problem: unknown) => !isGone.current && setState({ is: 'refused', problem }),
    );
  };
  const finish = (): void => {
    isWhole.current = true;
    stream.current?.over();
  };
  return (
    <section aria-labelledby="typing-title" className="block typing">
      <Content component="h2" id="typing-title">
        {t('inside.type')}
      </Content>
      <p className="lead" id="typing-help">
        {t('inside.typeLead')}
      </p>
      {isOpen ? (
        <Form
          onSubmit={(e) => {
            e.preventDefault();
            stream.current?.type(`${line}\n`);
            setLine('');
            setSent(sent + 1);
            field.current?.focus();
          }}
        >
          <label htmlFor="typing-line">{t('inside.line')}</label>
          <TextInput
            id="typing-line"
            ref={field}
            dir="auto"
            autoComplete="off"
            value={line}
            aria-describedby="typing-help"
            onChange={(_e, v) => setLine(v)}
          />
          <div className="shell-foot">
            <Button type="submit">{t('inside.send')}</Button>
            <Button variant="secondary" onClick={() => stream.current?.leave()}>
              {t('inside.leave')}
            </Button>
            <Button variant="link" onClick={finish}>
              {t('inside.noMore')}
            </Button>
            <span role="status">{sent > 0 ? t('inside.sent', { n: number(sent) }) : ''}</span>
          </div>
        </Form>
      ) : (
        <div className="shell-foot">
          <Button variant="secondary" onClick={begin} isAriaDisabled={why} isLoading={state.is === 'opening'}>
            {t('inside.typeOpen')}
          </Button>
        </div>
      )}
      {state.is === 'over' && <Ended end={state.end} isWhole={state.isWhole} />}
      {state.is === 'refused' && <Failure problem={state.problem} />}
    </section>
  );
}
