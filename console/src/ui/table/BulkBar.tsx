// SPDX-License-Identifier: Apache-2.0
// BulkBar.tsx - one act on many rows: asked once, done row by row, and told for each row that failed why it did. What it tells
// outlives the rows: those that were removed are gone from the list by then.
import {
  Button,
  FormGroup,
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
  Progress,
  TextArea,
} from '@patternfly/react-core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Alert } from '../alert.tsx';
import { Problem } from '../../api/problem.ts';
import { number } from '../../lib/format.ts';
import { Name } from '../bits.tsx';
import { ServerWords, useProblemText } from '../states.tsx';
import type { Bulk } from './types.ts';

const AT_ONCE = 4;

interface Props<T> {
  acts: Bulk<T>[];
  rows: T[];
  nameOf: (row: T) => string;
  clear: () => void;
  done: () => void;
}
interface Outcome {
  name: string;
  problem?: unknown;
}

export function BulkBar<T>({ acts, rows, nameOf, clear, done }: Props<T>) {
  const { t } = useTranslation();
  const text = useProblemText();
  const [act, setAct] = useState<{ act: Bulk<T>; rows: T[]; left: number } | null>(null);
  const [ended, setEnded] = useState<Outcome[]>([]);
  const [phase, setPhase] = useState<'ask' | 'run' | 'told'>('ask');
  const [why, setWhy] = useState('');
  const stop = useRef(false);

  const run = async (of: Bulk<T>, on: T[]): Promise<void> => {
    setPhase('run');
    stop.current = false;
    const queue = [...on],
      out: Outcome[] = [];
    const one = async (): Promise<void> => {
      for (let row = queue.shift(); row !== undefined && !stop.current; row = queue.shift()) {
        const name = nameOf(row);
        try {
          await of.run(row, why.trim());
          out.push({ name });
        } catch (problem) {
          out.push({ name, problem });
        }
        setEnded([...out]);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    setPhase('told');
    done();
  };
  const begin = (of: Bulk<T>): void => {
    const on = rows.filter((r) => of.fits?.(r) ?? true);
    setEnded([]);
    setWhy('');
    setAct({ act: of, rows: on, left: rows.length - on.length });
    if (of.confirm !== undefined || on.length === 0) setPhase('ask');
    else void run(of, on);
  };
  const close = (): void => {
    stop.current = true;
    // What is under way goes on to its end, and what came of each is told: a refusal must not vanish with the dialog.
    if (phase === 'run') return;
    setAct(null);
    if (phase === 'told') clear();
  };
  const undone = act ? act.rows.length - ended.length : 0;
  const failed = ended.filter((o) => o.problem !== undefined);
  return (
    <>
      {rows.length > 0 && (
        <div className="bulk-bar" role="region" aria-label={t('bulk.title')}>
          <span aria-live="polite">{t('bulk.selected', { count: rows.length })}</span>
          {acts.map((a) => (
            <Button
              key={a.label}
              size="sm"
              variant="secondary"
              {...(a.danger ? { isDanger: true } : {})}
              onClick={() => begin(a)}
            >
              {a.label}
            </Button>
          ))}
          <Button variant="link" size="sm" onClick={clear}>
            {t('bulk.clear')}
          </Button>
        </div>
      )}
      {act && (
        <Modal isOpen variant="small" onClose={close} aria-labelledby="bulk-title">
          <ModalHeader
            title={act.act.label}
            labelId="bulk-title"
            {...(act.act.danger && phase === 'ask' ? { titleIconVariant: 'warning' as const } : {})}
          />
          <ModalBody>
            {act.left > 0 && (
              <Alert isInline isPlain variant="info" title={t('bulk.left', { count: act.left })} className="effect" />
            )}
            {phase === 'ask' && (
              <>
                <p className="effect">{act.act.confirm}</p>
                <ul className="bulk-names">
                  {act.rows.map((r, i) => (
                    <li key={i}>
                      <Name>{nameOf(r)}</Name>
                    </li>
                  ))}
                </ul>
                {act.act.reason && (
                  <FormGroup label={t('confirm.reason')} fieldId="bulk-reason" isRequired>
                    <TextArea
                      id="bulk-reason"
                      value={why}
                      onChange={(_e, v) => setWhy(v)}
                      isRequired
                      maxLength={512}
                      resizeOrientation="vertical"
                    />
                  </FormGroup>
                )}
              </>
            )}
            {phase === 'run' && (
              <Progress
                value={ended.length}
                max={act.rows.length}
                valueText={`${number(ended.length)} / ${number(act.rows.length)}`}
                label={`${number(ended.length)} / ${number(act.rows.length)}`}
                aria-label={act.act.label}
              />
            )}
            {phase === 'told' && (
              <div aria-live="polite" className="bulk-told">
                <Alert
                  isInline
                  variant={failed.length + undone > 0 ? 'warning' : 'success'}
                  title={[
                    t('bulk.done', { count: ended.length - failed.length }),
                    ...(failed.length > 0 ? [t('bulk.failed', { count: failed.length })] : []),
                    ...(undone > 0 ? [t('bulk.undone', { count: undone })] : []),
                  ].join(' · ')}
                />
                <ul className="rows block">
                  {failed.map((o, i) => (
                    <li key={i}>
                      <Name>{o.name}</Name>
                      <span>
                        {text(o.problem)}
                        <ServerWords problem={o.problem} />
                        {o.problem instanceof Problem && o.problem.requestId && (
                          <bdi dir="ltr" className="code" translate="no">
                            {o.problem.requestId}
                          </bdi>
                        )}
                      </span>
                    </li>
                  ))}
                </ul>
              </div>
            )}
          </ModalBody>
          <ModalFooter>
            {phase === 'ask' && act.rows.length > 0 && (
              <Button
                variant={act.act.danger ? 'danger' : 'primary'}
                isDisabled={act.act.reason === true && why.trim() === ''}
                onClick={() => void run(act.act, act.rows)}
              >
                {t('bulk.go', { what: act.act.label, count: act.rows.length })}
              </Button>
            )}
            <Button variant={phase === 'told' ? 'primary' : 'link'} onClick={close}>
              {phase === 'told' ? t('act.close') : phase === 'run' ? t('bulk.stop') : t('act.cancel')}
            </Button>
          </ModalFooter>
        </Modal>
      )}
    </>
  );
}
