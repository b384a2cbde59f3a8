// SPDX-License-Identifier: Apache-2.0
// Yaml.tsx - the request as text: a plain field with numbered lines, and below it each fault with its line and column; a fault leads to
// its place. Tab moves on: nobody is caught in the field.
import { Button } from '@patternfly/react-core';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { saveAs } from '../../lib/csv.ts';
import type { Place } from '../../lib/yamltext.ts';
import { Note } from '../../ui/note.tsx';
import type { Draft } from './draft.ts';
import './submit.css';

const ROWS_MIN = 10;

/** fresh: nothing has been written yet, so what is missing is no fault. */
export function Yaml({ draft, fresh }: { draft: Draft; fresh: boolean }) {
  const { t } = useTranslation();
  const box = useRef<HTMLTextAreaElement>(null);
  const pick = useRef<HTMLInputElement>(null);
  const written = draft.text.trimEnd().split('\n').length;
  const rows = Math.max(ROWS_MIN, draft.text.split('\n').length + 1);
  const isBroken = draft.syntax.length > 0;
  const go = (place: Place): void => {
    box.current?.focus();
    box.current?.setSelectionRange(place.offset, place.offset);
  };
  const at = (place: Place | null) =>
    place === null ? null : (
      <Button variant="link" isInline onClick={() => go(place)}>
        {t('submit.at', { line: place.line, col: place.col })}
      </Button>
    );
  return (
    <section aria-labelledby="yaml-title" className="yaml-part">
      <div className="yaml-head">
        <h2 id="yaml-title">
          <span translate="no">{'YAML'}</span>
        </h2>
        <span className="yaml-acts">
          {isBroken && (
            <Button variant="link" size="sm" onClick={draft.rewrite}>
              {t('submit.takeForm')}
            </Button>
          )}
          {draft.undo && (
            <Button variant="link" size="sm" onClick={draft.undo}>
              {t('submit.undo')}
            </Button>
          )}
          <Button variant="link" size="sm" onClick={() => pick.current?.click()}>
            {t('submit.openFile')}
          </Button>
          <Button variant="link" size="sm" onClick={() => saveAs('request.yaml', draft.text, 'application/yaml')}>
            {t('act.download')}
          </Button>
          <input
            ref={pick}
            type="file"
            hidden
            aria-label={t('submit.openFile')}
            accept=".yaml,.yml,.json"
            onChange={(e) => {
              void e.target.files?.[0]?.text().then(draft.type);
              e.target.value = '';
            }}
          />
        </span>
      </div>
      <div className="yaml-box" dir="ltr">
        <pre className="yaml-lines" aria-hidden="true">
          {Array.from({ length: written }, (_, i) => i + 1).join('\n')}
        </pre>
        <textarea
          ref={box}
          id="yaml"
          aria-label={t('submit.yaml')}
          aria-describedby="yaml-faults"
          aria-invalid={isBroken || draft.faults.length > 0}
          className="yaml-text"
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          translate="no"
          rows={rows}
          value={draft.text}
          onChange={(e) => draft.type(e.target.value)}
        />
      </div>
      <div id="yaml-faults" aria-live="polite">
        {isBroken ? (
          <Note variant="danger" title={t('submit.broken')} className="yaml-faults">
            <ul>
              {draft.syntax.map((f, i) => (
                <li key={i}>
                  {at(f.place)}{' '}
                  <bdi lang="en" dir="ltr">
                    {f.words}
                  </bdi>
                </li>
              ))}
            </ul>
            <p>{t('submit.brokenBody')}</p>
          </Note>
        ) : draft.faults.length > 0 ? (
          <Note
            variant={fresh ? 'info' : 'warning'}
            title={fresh ? t('submit.toFill') : t('submit.faults', { count: draft.faults.length })}
            className="yaml-faults"
          >
            <ul>
              {draft.faults.map((f, i) => (
                <li key={i}>
                  {at(f.place)}{' '}
                  <bdi dir="ltr" className="code">
                    {f.path.join('.')}
                  </bdi>{' '}
                  <Words of={f} />
                </li>
              ))}
            </ul>
          </Note>
        ) : (
          <Note isPlain variant="success" title={t('submit.sound')} />
        )}
      </div>
    </section>
  );
}

/** What is wrong, in the reader's words, and the API's own where it said it. */
export function Words({ of }: { of: { key: string; values?: Record<string, unknown>; words?: string } }) {
  const { t, i18n } = useTranslation();
  return (
    <>
      {i18n.exists(of.key) ? t(of.key, of.values) : t('problem.invalid_argument')}
      {of.words && (
        <>
          {' '}
          <bdi lang="en" dir="ltr">
            {of.words}
          </bdi>
        </>
      )}
    </>
  );
}
