// SPDX-License-Identifier: Apache-2.0
// Writing.tsx - the playground of a decoder: a prompt goes on as it is made, until it ends or is stopped.
import {
  ActionGroup,
  Button,
  Form,
  FormGroup,
  FormHelperText,
  HelperText,
  TextArea,
  TextInput,
} from '@patternfly/react-core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import { getResponse, type Schemas } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { number } from '../../lib/format.ts';
import { latin } from '../../lib/digits.ts';
import { Cut, piecesOf } from '../../lib/textstream.ts';
import { Note } from '../../ui/note.tsx';
import { ServerWords, useProblemText } from '../../ui/states.tsx';
import './play.css';

interface Written {
  prompt: string;
  text: string;
  tokens: number;
  firstMs: number | null;
  ms: number;
  seed: number | null;
}
const FIELDS = ['max_tokens', 'temperature', 'seed'] as const;
const NUMBER = { max_tokens: /^\d+$/, temperature: /^\d+(\.\d+)?$/, seed: /^\d+$/ };
const WORDS = { max_tokens: 'maxTokens', temperature: 'temperature', seed: 'seed' } as const;

export function Writing({ of }: { of: Schemas['deployment'] }) {
  const { t } = useTranslation();
  const words = useProblemText();
  const [prompt, setPrompt] = useState('');
  const [values, setValues] = useState({ max_tokens: '100', temperature: '0.8', seed: '' });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [written, setWritten] = useState<Written | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const numbers = Object.fromEntries(
    FIELDS.map((f) => [f, latin(values[f]).trim()] as const).filter(([, v]) => v !== ''),
  );
  const wrong = FIELDS.filter((f) => numbers[f] !== undefined && !NUMBER[f].test(numbers[f]));

  const write = async (): Promise<void> => {
    const began = performance.now();
    const abort = new AbortController();
    let now: Written = { prompt, text: '', tokens: 0, firstMs: null, ms: 0, seed: null };
    stop.current = abort;
    setBusy(true);
    setProblem(null);
    setWritten(now);
    try {
      const parameters = Object.fromEntries(Object.entries(numbers).map(([k, v]) => [k, Number(v)]));
      const response = await getResponse(`/v2/models/${encodeURIComponent(of.name!)}/generate_stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text_input: prompt, parameters }),
        signal: abort.signal,
      });
      for await (const p of piecesOf(response.body!)) {
        if (p.error !== undefined) throw new Problem(response.status, { error: p.error });
        const ms = performance.now() - began;
        now = {
          ...now,
          ms,
          text: now.text + (p.text_output ?? ''),
          tokens: p.generated_tokens ?? now.tokens + 1,
          firstMs: now.firstMs ?? ms,
          seed: p.seed ?? now.seed,
        };
        setWritten(now);
      }
    } catch (p) {
      if (!abort.signal.aborted) setProblem(p);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="play">
      <Form
        noValidate
        aria-label={t('play.title')}
        onSubmit={(e) => {
          e.preventDefault();
          if (wrong.length > 0) document.getElementById(`play-${wrong[0]!}`)?.focus();
          else void write();
        }}
      >
        <FormGroup label={t('play.prompt')} fieldId="play-prompt">
          <TextArea
            id="play-prompt"
            value={prompt}
            rows={6}
            dir="auto"
            resizeOrientation="vertical"
            onChange={(_e, v) => setPrompt(v)}
          />
        </FormGroup>
        <div className="play-acts">
          {FIELDS.map((f) => (
            <FormGroup key={f} label={t(`play.${WORDS[f]}`)} fieldId={`play-${f}`}>
              <TextInput
                id={`play-${f}`}
                value={values[f]}
                inputMode="decimal"
                dir="ltr"
                validated={wrong.includes(f) ? 'error' : 'default'}
                aria-describedby={`play-${f}-help`}
                onChange={(_e, v) => setValues((x) => ({ ...x, [f]: v }))}
              />
              <FormHelperText>
                <HelperText id={`play-${f}-help`}>
                  {wrong.includes(f) && <FaultText>{t('field.number')}</FaultText>}
                </HelperText>
              </FormHelperText>
            </FormGroup>
          ))}
        </div>
        <p className="lead">{t('play.writeHelp')}</p>
        {problem !== null && (
          <Note variant="danger" title={problem instanceof Cut ? t('play.cut') : words(problem)}>
            <ServerWords problem={problem} />
          </Note>
        )}
        <ActionGroup>
          <Button type="submit" isDisabled={busy} isLoading={busy} spinnerAriaValueText={t('state.loading')}>
            {t('play.write')}
          </Button>
          {busy && (
            <Button variant="secondary" onClick={() => stop.current?.abort()}>
              {t('play.stop')}
            </Button>
          )}
        </ActionGroup>
      </Form>
      <section aria-labelledby="answer-title">
        <h3 id="answer-title">{t('play.answer')}</h3>
        <div aria-live="polite" aria-busy={busy}>
          {written ? (
            <p dir="auto" translate="no" className="written">
              <span className="lead">{written.prompt}</span>
              {written.text}
            </p>
          ) : (
            <p className="lead">{t('play.body')}</p>
          )}
        </div>
        {written && !busy && written.firstMs !== null && (
          <p className="lead">
            {t('play.pace', {
              count: written.tokens,
              n: number(written.tokens),
              first: number(written.firstMs, 0),
              pace: number((written.tokens * 1000) / written.ms, 1),
            })}{' '}
            {written.seed !== null && t('play.seedWas', { seed: String(written.seed) })}
          </p>
        )}
      </section>
    </div>
  );
}
