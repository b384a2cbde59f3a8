// SPDX-License-Identifier: Apache-2.0
// Playground.tsx - asks a served model: a form made from its metadata, or the request as JSON; the answer, what was asked in this visit,
// examples kept in this browser, and the same question from a terminal and a program.
import {
  ActionGroup,
  Button,
  Form,
  FormGroup,
  Tab,
  Tabs,
  TabTitleText,
  TextArea,
  TextInput,
} from '@patternfly/react-core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import {
  isText,
  isWriter,
  metaOf,
  sharesOf,
  snippets,
  tensorOf,
  widthOf,
  type InferRequest,
  type Meta,
} from '../../lib/tensors.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Answer, ServerWords, useProblemText } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { ModelAnswer } from './Answer.tsx';
import { ask, HISTORY_MAX, useExamples, type Asked } from './play.ts';
import './play.css';
import { Question } from './Question.tsx';
import { useSample } from './sample.ts';
import { Writing } from './Writing.tsx';

export function Playground({ of }: { of: Schemas['deployment'] }) {
  const meta = useGet(`/v2/models/${encodeURIComponent(of.name!)}`);
  return <Answer of={meta}>{(m) => (isWriter(m) ? <Writing of={of} /> : <Asking of={of} meta={metaOf(m)} />)}</Answer>;
}
const textOf = (request: InferRequest, name: string): string => {
  const t = request.inputs.find((i) => i.name === name);
  const data = (t?.data ?? []).map((x) => (typeof x === 'boolean' ? Number(x) : x));
  return t && isText(t) ? data.join('\n') : data.join(',');
};

function Asking({ of, meta }: { of: Schemas['deployment']; meta: Meta }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const words = useProblemText();
  const sample = useSample(of);
  const examples = useExamples(me.tenant ?? '', of.name!);
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(meta.inputs.map((i) => [i.name, isText(i) ? '' : Array(widthOf(i)).fill('0').join(',')])),
  );
  const [mode, setMode] = useState<string | number>('form');
  const [json, setJson] = useState('');
  const [busy, setBusy] = useState<'ask' | 'sample' | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [history, setHistory] = useState<Asked[]>([]);
  const [shown, setShown] = useState<Asked | null>(null);
  const truth = useRef<{ text: string; label: string } | null>(null);
  const [name, setName] = useState('');
  useEffect(() => setProblem(null), [texts, json, mode]);

  const read = meta.inputs.map((i) => tensorOf(i, texts[i.name] ?? ''));
  const isWhole = read.every((r) => 'tensor' in r);
  const request: InferRequest = { inputs: read.flatMap((r) => ('tensor' in r ? [r.tensor] : [])) };
  const parsed = ((): InferRequest | null => {
    if (mode === 'form') return isWhole ? request : null;
    try {
      return JSON.parse(json) as InferRequest;
    } catch {
      return null;
    }
  })();
  const first = meta.inputs[0]!;
  const take = (r: InferRequest): void => {
    setTexts(Object.fromEntries(meta.inputs.map((i) => [i.name, textOf(r, i.name)])));
    setJson(JSON.stringify(r, null, 2));
  };
  const send = async (): Promise<void> => {
    if (parsed === null) return;
    setBusy('ask');
    setProblem(null);
    try {
      const asked = await ask(`/v2/models/${encodeURIComponent(of.name!)}/infer`, parsed);
      if (truth.current !== null && truth.current.text === texts[first.name]) asked.truth = truth.current.label;
      setShown(asked);
      setHistory((h) => [asked, ...h].slice(0, HISTORY_MAX));
    } catch (p) {
      setProblem(p);
    } finally {
      setBusy(null);
    }
  };
  const draw = async (): Promise<void> => {
    setBusy('sample');
    setProblem(null);
    try {
      const one = await sample!();
      const text = one.row.join(',');
      truth.current = { text, label: one.label };
      setTexts((x) => ({ ...x, [first.name]: text }));
    } catch (p) {
      setProblem(p);
    } finally {
      setBusy(null);
    }
  };
  return (
    <>
      <div className="play">
        <Form
          noValidate
          aria-label={t('play.title')}
          onSubmit={(e) => {
            e.preventDefault();
            void send();
          }}
        >
          <Tabs
            activeKey={mode}
            isSubtab
            aria-label={t('play.mode')}
            onSelect={(_e, k) => {
              if (k === 'json' && isWhole) setJson(JSON.stringify(request, null, 2));
              setMode(k);
            }}
          >
            <Tab eventKey="form" title={<TabTitleText>{t('play.form')}</TabTitleText>}>
              {meta.inputs.map((i, n) => (
                <Question
                  key={i.name}
                  tensor={i}
                  text={texts[i.name] ?? ''}
                  isFirst={n === 0}
                  onChange={(v) => setTexts((x) => ({ ...x, [i.name]: v }))}
                  sample={sample && !isText(i) ? () => void draw() : null}
                  isSampling={busy === 'sample'}
                />
              ))}
            </Tab>
            <Tab
              eventKey="json"
              title={
                <TabTitleText>
                  <span translate="no">{'JSON'}</span>
                </TabTitleText>
              }
            >
              <FormGroup label={t('play.request')} fieldId="play-json">
                <TextArea
                  id="play-json"
                  value={json}
                  rows={14}
                  dir="ltr"
                  className="mono"
                  spellCheck={false}
                  validated={parsed === null ? 'error' : 'default'}
                  resizeOrientation="vertical"
                  onChange={(_e, v) => setJson(v)}
                />
                {parsed === null && <p role="status">{t('field.json')}</p>}
              </FormGroup>
            </Tab>
          </Tabs>
          {problem !== null && (
            <Note variant="danger" title={words(problem)}>
              <ServerWords problem={problem} />
            </Note>
          )}
          <ActionGroup>
            <Button
              type="submit"
              isDisabled={parsed === null || busy !== null}
              isLoading={busy === 'ask'}
              spinnerAriaValueText={t('state.loading')}
            >
              {t('play.ask')}
            </Button>
          </ActionGroup>
        </Form>
        <section aria-labelledby="answer-title">
          <h3 id="answer-title">{t('play.answer')}</h3>
          <div aria-live="polite">
            {shown ? <ModelAnswer key={shown.at} of={shown} /> : <p className="lead">{t('play.body')}</p>}
          </div>
        </section>
      </div>
      <div className="play play-more">
        <section aria-labelledby="history-title">
          <h3 id="history-title">{t('play.history')}</h3>
          {history.length === 0 && <p className="lead">{t('play.noHistory')}</p>}
          <ul className="play-list">
            {history.map((h) => (
              <li key={h.at}>
                <Button
                  variant="link"
                  isInline
                  onClick={() => {
                    take(h.request);
                    setShown(h);
                  }}
                >
                  <Time at={h.at} />
                </Button>
                <span>{number(sharesOf(h.answer)[0]?.[0]?.label)}</span>
                <span className="lead">{t('play.ms', { ms: number(h.ms, 0) })}</span>
              </li>
            ))}
          </ul>
          <h3 className="play-more">{t('play.examples')}</h3>
          <p className="lead">{t('play.examplesHelp')}</p>
          <ul className="play-list">
            {examples.list.map((x) => (
              <li key={x.name}>
                <Button variant="link" isInline onClick={() => take(x.request)}>
                  <bdi>{x.name}</bdi>
                </Button>
                <Button variant="link" isInline isDanger onClick={() => examples.drop(x.name)}>
                  {t('play.drop', { name: `\u2068${x.name}\u2069` })}
                </Button>
              </li>
            ))}
          </ul>
          <div className="play-acts">
            <TextInput
              aria-label={t('play.exampleName')}
              placeholder={t('play.exampleName')}
              value={name}
              maxLength={64}
              dir="auto"
              className="play-name"
              onChange={(_e, v) => setName(v)}
            />
            <Button
              variant="secondary"
              isDisabled={name.trim() === '' || parsed === null}
              onClick={() => {
                examples.save(name.trim(), parsed!);
                setName('');
              }}
            >
              {t('play.save')}
            </Button>
          </div>
        </section>
        <Snippets name={of.name!} request={parsed ?? request} />
      </div>
    </>
  );
}

function Snippets({ name, request }: { name: string; request: InferRequest }) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<string | number>('curl');
  return (
    <section aria-labelledby="snippets-title">
      <h3 id="snippets-title">{t('play.elsewhere')}</h3>
      <Tabs activeKey={tab} onSelect={(_e, k) => setTab(k)} isSubtab aria-label={t('play.elsewhere')}>
        {snippets(location.origin, name, request).map((s) => (
          <Tab
            key={s.id}
            eventKey={s.id}
            title={
              <TabTitleText>
                <Code>{s.title}</Code>
              </TabTitleText>
            }
          >
            <pre
              id={`snippet-${s.id}`}
              className="json snippet"
              dir="ltr"
              translate="no"
              role="region"
              tabIndex={0}
              aria-label={s.title}
            >
              {s.text}
            </pre>
            <Button
              variant="secondary"
              size="sm"
              onClick={() => void navigator.clipboard.writeText(s.text).then(() => toast(t('act.copied'), 'info'))}
            >
              {t('act.copy')}
            </Button>
          </Tab>
        ))}
      </Tabs>
    </section>
  );
}
