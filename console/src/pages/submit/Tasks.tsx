// SPDX-License-Identifier: Apache-2.0
// Tasks.tsx - whether one job is submitted or an array of them: its indexes, and how many run at once.
import { FormGroup, FormHelperText, HelperText, TextInput } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FieldFault } from '../../api/problem.ts';
import { latin } from '../../lib/digits.ts';
import { FaultText } from '../../ui/faulttext.tsx';
import { useKeeping, useKept } from './kept.ts';

const MEMBER = 'array';
const FORM = /^\d+(-\d+(:\d+)?)?(%\d+)?$/;
const TASKS_MAX = 10_000;

interface Fault {
  /** What was written when it was refused: other text is not refused yet. */
  at: string;
  words?: FieldFault;
}
export interface Tasks {
  typed: string;
  /** When an earlier visit wrote what is gone on with; empty: none did. */
  keptAt: string;
  put: (typed: string) => void;
  /** As the API reads it; empty: one job. */
  array: string;
  fault: Fault | undefined;
  /** Says whether it has the form of an array, and marks it where it has not. */
  isSound: () => boolean;
  /** What the API said of it; false: nothing. */
  refuse: (all: readonly FieldFault[]) => boolean;
  drop: () => void;
}
/** place: what was written there stays in this tab, as the request beside it does. */
export function useTasks(place: string): Tasks {
  const kept = useKept(`${place}.array`);
  const [typed, put] = useState(kept.first?.text ?? '');
  const [said, say] = useState<Fault>();
  useKeeping(kept, typed, typed !== '');
  const array = latin(typed).trim();
  return {
    typed,
    keptAt: kept.first?.at ?? '',
    put,
    array,
    fault: said?.at === array ? said : undefined,
    isSound: () => {
      const isGood = array === '' || FORM.test(array);
      say(isGood ? undefined : { at: array });
      return isGood;
    },
    refuse: (all) => {
      const words = all.find((f) => f.path === MEMBER);
      if (words) say({ at: array, words });
      return words !== undefined;
    },
    drop: () => {
      kept.drop();
      put('');
    },
  };
}

export const TASKS_ID = 'f-array';
export function TasksField({ of: x }: { of: Tasks }) {
  const { t, i18n } = useTranslation();
  const refusal = x.fault?.words;
  const key = `problem.${refusal?.code}`;
  return (
    <FormGroup label={t('submit.array')} fieldId={TASKS_ID}>
      <TextInput
        id={TASKS_ID}
        dir="ltr"
        value={x.typed}
        placeholder="0-99%8"
        autoComplete="off"
        aria-describedby={`${TASKS_ID}-help`}
        aria-invalid={x.fault !== undefined}
        validated={x.fault ? 'error' : 'default'}
        onChange={(_e, v) => x.put(v)}
      />
      <FormHelperText>
        <HelperText id={`${TASKS_ID}-help`}>
          <FaultText bad={x.fault !== undefined}>
            {refusal ? (
              <>
                {t(i18n.exists(key) ? key : 'problem.invalid_argument')}{' '}
                <bdi lang="en" dir="ltr">
                  {refusal.detail}
                </bdi>
              </>
            ) : x.fault ? (
              t('field.pattern')
            ) : (
              t('submit.arrayHelp', {
                form: '\u2066FIRST-LAST[:STEP][%MOST]\u2069',
                index: '\u2066{{index}}\u2069',
                most: TASKS_MAX,
              })
            )}
          </FaultText>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}
