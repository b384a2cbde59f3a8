// SPDX-License-Identifier: Apache-2.0
// logtools.tsx - what a reader does with a log: search, filter, go from error to error, follow, keep.
import {
  Button,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  Switch,
  TextInput,
} from '@patternfly/react-core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultText } from './faulttext.tsx';
import { number } from '../lib/format.ts';

export interface LogView {
  q: string;
  level: string;
  stream: string;
  fence: string;
  only: boolean;
}
export interface LogLook {
  wrap: boolean;
  times: boolean;
}
interface Props {
  view: LogView;
  put: (name: string, value: string) => void;
  fault: string;
  /** Hits of the search, and which of them is selected, from 1; null while they are looked for. */
  hits: number | null;
  hit: number;
  onHit: (step: 1 | -1) => void;
  errors: number;
  onError: (step: 1 | -1 | 0) => void;
  fences: number[];
  look: LogLook;
  setLook: (look: LogLook) => void;
}

export function LogTools(p: Props) {
  const { t } = useTranslation();
  const { view, put } = p;
  const [text, setText] = useState(view.q);
  useEffect(() => setText(view.q), [view.q]);
  useEffect(() => {
    const timer = setTimeout(() => text !== view.q && put('q', text), 300);
    return () => clearTimeout(timer);
  });
  const choice = (name: 'level' | 'stream' | 'fence', label: string, options: [string, string][]) => (
    <FormSelect aria-label={label} value={view[name]} onChange={(_e, v) => put(name, v)}>
      <FormSelectOption value="" label={t('list.any', { what: label })} />
      {options.map(([value, text]) => (
        <FormSelectOption key={value} value={value} label={text} />
      ))}
    </FormSelect>
  );
  return (
    <>
      <div className="log-tools">
        <div className="grow">
          <TextInput
            type="search"
            aria-label={t('log.find')}
            placeholder={t('log.findHint')}
            value={text}
            dir="auto"
            validated={p.fault === '' ? 'default' : 'error'}
            {...(p.fault === '' ? {} : { 'aria-describedby': 'log-fault' })}
            onChange={(_e, v) => setText(v)}
            onKeyDown={(e) => {
              if (e.key === 'Enter') p.onHit(e.shiftKey ? -1 : 1);
            }}
          />
          {p.fault !== '' && (
            <FormHelperText id="log-fault">
              <HelperText>
                <FaultText>
                  {t('log.badExpression')}{' '}
                  <bdi lang="en" dir="ltr" translate="no">
                    {p.fault}
                  </bdi>
                </FaultText>
              </HelperText>
            </FormHelperText>
          )}
        </div>
        {view.q !== '' && p.fault === '' && (
          <>
            <span role="status">
              {p.hits === null
                ? t('log.looking')
                : p.hits === 0
                  ? t('log.noHit')
                  : t('log.hitOf', { n: p.hit > 0 ? number(p.hit) : '–', total: number(p.hits) })}
            </span>
            <Button variant="secondary" size="sm" isDisabled={!p.hits} onClick={() => p.onHit(-1)}>
              {t('log.hitBefore')}
            </Button>
            <Button variant="secondary" size="sm" isDisabled={!p.hits} onClick={() => p.onHit(1)}>
              {t('log.hitNext')}
            </Button>
            <Switch label={t('log.only')} isChecked={view.only} onChange={(_e, on) => put('only', on ? '1' : '')} />
          </>
        )}
      </div>
      <div className="log-tools">
        {choice('level', t('log.level'), [
          ['error', t('log.errors')],
          ['warn', t('log.warnings')],
        ])}
        {choice('stream', t('log.stream'), [
          ['stdout', t('log.stdout')],
          ['stderr', t('log.stderr')],
          ['system', t('log.system')],
        ])}
        {(p.fences.length > 1 || view.fence !== '') &&
          choice(
            'fence',
            t('job.attempts'),
            p.fences.map((n) => [String(n), t('job.execution', { n: number(n) })]),
          )}
        <Switch
          label={t('log.wrap')}
          isChecked={p.look.wrap}
          onChange={(_e, on) => p.setLook({ ...p.look, wrap: on })}
        />
        <Switch
          label={t('log.times')}
          isChecked={p.look.times}
          onChange={(_e, on) => p.setLook({ ...p.look, times: on })}
        />
        <Button variant="secondary" size="sm" onClick={() => p.onError(0)}>
          {t('log.firstError')}
        </Button>
        <Button variant="secondary" size="sm" isDisabled={p.errors === 0} onClick={() => p.onError(-1)}>
          {t('log.errorBefore')}
        </Button>
        <Button variant="secondary" size="sm" isDisabled={p.errors === 0} onClick={() => p.onError(1)}>
          {t('log.errorNext')}
        </Button>
      </div>
    </>
  );
}
