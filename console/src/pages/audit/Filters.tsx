// SPDX-License-Identifier: Apache-2.0
// Filters.tsx - what of the log is looked for: people and acts are suggested by name, the address keeps what the API wants.
import { ActionGroup, Button, Form, FormGroup, FormSelect, FormSelectOption, TextInput } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ACTIONS } from '../../lib/audit-actions.ts';
import type { Search } from '../../lib/search.ts';
import { rangeOf, WhenFields, type When } from './when.tsx';
import type { Known } from './words.ts';

const NAMES = ['actor', 'action', 'resource', 'outcome', 'ip', 'request_id'] as const;
export interface Want extends When {
  actor: string;
  action: string;
  resource: string;
  outcome: string;
  ip: string;
  request_id: string;
}
const KINDS = ['user', 'service', 'worker', 'system', 'anonymous'];
/** Beginnings that several acts share, then the acts. */
const ACTS = [...new Set(ACTIONS.map((a) => `${a.split('.')[0]}.`)), ...ACTIONS].map((value) => ({ value }));

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

function Suggest(p: {
  id: string;
  label: string;
  value: string;
  put: (v: string) => void;
  options: { value: string; label?: string }[];
}) {
  return (
    <FormGroup label={p.label} fieldId={p.id}>
      <TextInput
        id={p.id}
        value={p.value}
        list={`${p.id}-list`}
        autoComplete="off"
        onChange={(_e, v) => p.put(v)}
        dir="auto"
      />
      <datalist id={`${p.id}-list`}>
        {p.options.map((o) => (
          <option key={o.value} value={o.value} label={o.label} />
        ))}
      </datalist>
    </FormGroup>
  );
}

export function Filters({ known, children }: { known: Known; children?: ReactNode }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { want, isEmpty } = useWant();
  const [draft, setDraft] = useState(want);
  const nameOf = (id: string): string => known.names.get(id) ?? id;
  // What the address says is drawn by name as soon as the names are known.
  useEffect(
    () =>
      setDraft({
        ...want,
        actor: known.names.get(want.actor) ?? want.actor,
        resource: known.names.get(want.resource) ?? want.resource,
      }),
    [want, known],
  );
  const set = (name: keyof Want) => (v: string) => setDraft((d) => ({ ...d, [name]: v.trimStart() }));
  const kinds = KINDS.map((k) => ({ value: k, label: t(`audit.by_${k}`) }));
  const submit = (): void => {
    const idOf = (list: Known['people'], v: string): string => list.find((x) => x.name === v)?.id ?? v;
    const next: Record<string, string> = {
      ...draft,
      actor: idOf(known.people, draft.actor.trim()),
      resource: idOf(known.things, draft.resource.trim()),
    };
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
      <Suggest
        id="a-actor"
        label={t('audit.actor')}
        value={draft.actor}
        put={set('actor')}
        options={[...known.people.map((p) => ({ value: p.name || nameOf(p.id) })), ...kinds]}
      />
      <Suggest id="a-action" label={t('audit.action')} value={draft.action} put={set('action')} options={ACTS} />
      <Suggest
        id="a-resource"
        label={t('audit.resource')}
        value={draft.resource}
        put={set('resource')}
        options={known.things.map((x) => ({ value: x.name }))}
      />
      <FormGroup label={t('audit.outcome')} fieldId="a-outcome">
        <FormSelect id="a-outcome" value={draft.outcome} onChange={(_e, v) => set('outcome')(v)}>
          <FormSelectOption value="" label={t('audit.anyOutcome')} />
          {['success', 'denied', 'failed'].map((o) => (
            <FormSelectOption key={o} value={o} label={t(`value.${o}`)} />
          ))}
        </FormSelect>
      </FormGroup>
      <FormGroup label={t('audit.ip')} fieldId="a-ip">
        <TextInput id="a-ip" dir="ltr" value={draft.ip} onChange={(_e, v) => set('ip')(v)} />
      </FormGroup>
      <FormGroup label={t('state.requestId')} fieldId="a-request">
        <TextInput id="a-request" dir="ltr" value={draft.request_id} onChange={(_e, v) => set('request_id')(v)} />
      </FormGroup>
      <WhenFields id="a" value={draft} onChange={(w) => setDraft((d) => ({ ...d, ...w }))} />
      <ActionGroup>
        <Button type="submit" variant="primary">
          {t('audit.show')}
        </Button>
        {!isEmpty && (
          <Button variant="link" onClick={() => void navigate({ to: '.', search: {} as never })}>
            {t('list.clear')}
          </Button>
        )}
        {children}
      </ActionGroup>
    </Form>
  );
}
