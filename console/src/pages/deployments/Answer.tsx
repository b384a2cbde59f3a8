// SPDX-License-Identifier: Apache-2.0
// Answer.tsx - what a model said: the likeliest class with its share, bars of the others, the time it took, and the whole exchange.
import { ExpandableSection, FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { number, percent } from '../../lib/format.ts';
import { sharesOf } from '../../lib/tensors.ts';
import { Code, Json } from '../../ui/bits.tsx';
import type { Asked } from './play.ts';

const BARS_MAX = 12;

export function ModelAnswer({ of }: { of: Asked }) {
  const { t } = useTranslation();
  const [row, setRow] = useState(0);
  const [raw, setRaw] = useState(false);
  const rows = sharesOf(of.answer);
  const shares = rows[Math.min(row, rows.length - 1)];
  const best = shares?.[0];
  return (
    <>
      {best && (
        <div className="answer-row">
          <span className="answer-big">{number(best.label)}</span>
          <span>{t('play.with', { share: percent(best.share) })}</span>
          {of.truth !== undefined && (
            <span>
              {t('play.truth')} <Code>{of.truth}</Code>
            </span>
          )}
        </div>
      )}
      <p className="lead">
        {of.serverMs === null
          ? t('play.took', { ms: number(of.ms, 0) })
          : t('play.tookParts', { ms: number(of.ms, 0), server: number(of.serverMs, 1) })}
      </p>
      {rows.length > 1 && (
        <FormSelect aria-label={t('play.whichRow')} value={String(row)} onChange={(_e, v) => setRow(Number(v))}>
          {rows.map((r, i) => (
            <FormSelectOption
              key={i}
              value={String(i)}
              label={t('play.rowOption', { n: number(i + 1), label: number(r[0]!.label) })}
            />
          ))}
        </FormSelect>
      )}
      {shares && (
        <ul className="shares" aria-label={t('play.shares')}>
          {shares.slice(0, BARS_MAX).map((s) => (
            <li key={s.label}>
              <span>{number(s.label)}</span>
              <span className="share-bar" aria-hidden="true">
                <span className="share-fill" style={{ inlineSize: `${Math.max(0, Math.min(1, s.share)) * 100}%` }} />
              </span>
              <span className="share-value">{percent(s.share)}</span>
            </li>
          ))}
        </ul>
      )}
      {shares && shares.length > BARS_MAX && (
        <p className="lead">{t('play.others', { count: shares.length - BARS_MAX })}</p>
      )}
      <ExpandableSection
        toggleText={t('play.raw')}
        isExpanded={raw || !shares}
        onToggle={(_e, on) => setRaw(on)}
        className="play-more"
      >
        <Json value={of.answer} label={t('play.answer')} />
      </ExpandableSection>
    </>
  );
}
