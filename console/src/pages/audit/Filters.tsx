// SPDX-License-Identifier: Apache-2.0
// Filters.tsx - what of the log is looked for: people and acts are suggested by name, the address keeps what the API wants.
import { ActionGroup, Button, Form, FormGroup, FormSelect, FormSelectOption, TextInput } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { AUDIT_EVENTS_OUTCOME } from '../../api/gen/enums.ts';
import type { Search } from '../../lib/search.ts';
import { codeOf, Suggest, useChoices, wordsOf, type ChoiceName } from './choices.tsx';
import { rangeOf, WhenFields, type When } from './when.tsx';
import type { Known } from './words.ts';

const WORDED: ChoiceName[] = ['actor', 'action', 'resource'];
const NAMES = ['actor', 'action', 'resource', 'outcome', 'ip', 'request_id'] as const;
export interface Want extends When {
  actor: string;
  action: string;
  resource: string;
  outcome: string;
  ip: string;
  request_id: string;
}
export function useWant(): { want: Want; query: Record<string, string>; isEmpty: boolean } {
  const s = useSearch({ strict: false }) as Search;
  const key = JSON.stringify([...NAMES, 'when', 'from', 'to'].map((n) => s[n] ?? ''));
  return useMemo(() => {
    const values = JSON.parse(key) as string[];
    const want = Object.fromEntries([...NAMES, 'when', 'from', 'to'].map((n, i) => [n, values[i]])) as unknown as Want;
    const query = Object.fromEntries(NAMES.filter((n) => want[n] !== '').map((n) => [n, want[n]]));
    const range = rangeOf(want);
    return { want, query: { ...query, ...range }, isEmpty: values.every((v) => v === '') };
  }, [key]);
}

export function Filters({ known, children }: { known: Known; children?: ReactNode }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { want, isEmpty } = useWant();
  const [draft, setDraft] = useState(want);
  const [all, setAll] = useState(want.ip !== '' || want.request_id !== '');
  const choices = useChoices(known, draft.resource);
  // What the address says is drawn in words as soon as these are known.
  useEffect(
    () => setDraft({ ...want, ...Object.fromEntries(WORDED.map((n) => [n, wordsOf(choices[n], want[n])])) }),
    [want, choices],
  );
  const set = (name: keyof Want) => (v: string) => setDraft((d) => ({ ...d, [name]: v.trimStart() }));
  const submit = (): void => {
    const next = { ...draft, ...Object.fromEntries(WORDED.map((n) => [n, codeOf(choices[n], draft[n])])) };
    void navigate({
      to: '.',
      search: Object.fromEntries(Object.entries(next).filter(([, v]) => v !== '')) as never,
    });
  };
  return (
    <Form
      className="audit-filters"
      aria-label={t('audit.filters')}
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        submit();
      }}
    >
      {WORDED.map((n) => (
        <Suggest key={n} id={`a-${n}`} name={n} value={draft[n]} put={set(n)} choices={choices} />
      ))}
      <FormGroup label={t('audit.outcome')} fieldId="a-outcome">
        <FormSelect id="a-outcome" value={draft.outcome} onChange={(_e, v) => set('outcome')(v)}>
          <FormSelectOption value="" label={t('audit.anyOutcome')} />
          {AUDIT_EVENTS_OUTCOME.map((o) => (
            <FormSelectOption key={o} value={o} label={t(`value.${o}`)} />
          ))}
        </FormSelect>
      </FormGroup>
      <WhenFields id="a" value={draft} onChange={(w) => setDraft((d) => ({ ...d, ...w }))} />
      {all && (
        <>
          <FormGroup label={t('audit.ip')} fieldId="a-ip">
            <TextInput id="a-ip" dir="ltr" value={draft.ip} onChange={(_e, v) => set('ip')(v)} />
          </FormGroup>
          <FormGroup label={t('state.requestId')} fieldId="a-request">
            <TextInput id="a-request" dir="ltr" value={draft.request_id} onChange={(_e, v) => set('request_id')(v)} />
          </FormGroup>
        </>
      )}
      <ActionGroup>
        <Button type="submit" variant="primary">
          {t('audit.show')}
        </Button>
        {!isEmpty && (
          <Button variant="link" onClick={() => void navigate({ to: '.', search: {} as never })}>
            {t('list.clear')}
          </Button>
        )}
        <Button variant="link" aria-expanded={all} onClick={() => setAll((on) => !on)}>
          {t(all ? 'list.fewer' : 'list.more')}
        </Button>
        <span className="apart">{children}</span>
      </ActionGroup>
    </Form>
  );
}
