// SPDX-License-Identifier: Apache-2.0
// choices.tsx - what a search of the log may ask for, by the words that people know: the address and the API keep ids and codes.
import { FormGroup, TextInput } from '@patternfly/react-core';
import { useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { titleOf } from '../../lib/titles.ts';
import { ACTIONS, didKey } from '../../lib/audit-actions.ts';
import type { Known } from './words.ts';

interface Choice {
  code: string;
  words: string;
  about?: string;
}
export interface Choices {
  actor: Choice[];
  action: Choice[];
  resource: Choice[];
}
export type ChoiceName = keyof Choices;
const KINDS = ['user', 'service', 'worker', 'system', 'anonymous'];
/** Beginnings that several acts share, then the acts. */
const CODES = [...new Set(ACTIONS.map((a) => `${a.split('.')[0]}.`)), ...ACTIONS];

/** Things by a part of their name, deleted ones too. The API takes a name where one thing has it; of several the id is meant. */
function useThings(typed: string): Choice[] {
  const { t } = useTranslation();
  const name = useDeferredValue(typed.trim());
  const found = useGet('/v1/audit/names', { name, page_size: 20 }, { enabled: name.length > 1 && !name.includes('_') });
  return useMemo(() => {
    const all = found.data?.data ?? [];
    return all.map((x) => {
      const code = all.filter((y) => y.name === x.name).length === 1 ? x.name : x.id;
      const words = code === x.name ? titleOf(x) : code;
      const kind = t(`thing.${x.kind}`, x.kind);
      const about = x.deleted ? t('audit.thingDeleted', { kind }) : kind;
      return { code, words, about: words === code ? about : `${x.name}, ${about}` };
    });
  }, [found.data, t]);
}
export function useChoices(known: Known, resource: string): Choices {
  const { t } = useTranslation();
  const things = useThings(resource);
  return useMemo(
    () => ({
      actor: [
        ...known.people.map((p) => ({ code: p.id, words: p.name || p.id })),
        ...KINDS.map((k) => ({ code: k, words: t(`audit.by_${k}`) })),
      ],
      action: CODES.map((code) => ({ code, words: t(didKey(code)) })),
      resource: things,
    }),
    [known, things, t],
  );
}
export const wordsOf = (list: Choice[], code: string): string => list.find((c) => c.code === code)?.words ?? code;
/** What was typed may be the words, the code, or a code that is not suggested. */
export const codeOf = (list: Choice[], typed: string): string =>
  list.find((c) => c.words.toLowerCase() === typed.trim().toLowerCase())?.code ?? typed.trim();

interface SuggestProps {
  id: string;
  name: ChoiceName;
  value: string;
  put: (v: string) => void;
  choices: Choices;
}
export function Suggest({ id, name, value, put, choices }: SuggestProps) {
  const { t } = useTranslation();
  return (
    <FormGroup label={t(`audit.${name}`)} fieldId={id}>
      <TextInput
        id={id}
        value={value}
        list={`${id}-list`}
        autoComplete="off"
        placeholder={t(`audit.any_${name}`)}
        onChange={(_e, v) => put(v)}
        {...(value === '' ? {} : { dir: 'auto' as const })}
      />
      <datalist id={`${id}-list`}>
        {choices[name].map((c) => (
          <option key={c.code} value={c.words} {...(c.about ? { label: `${c.words} (${c.about})` } : {})} />
        ))}
      </datalist>
    </FormGroup>
  );
}
