// SPDX-License-Identifier: Apache-2.0
// conditions.tsx - under which conditions a role holds: entering them, and saying them in words.
import {
  Checkbox,
  ExpandableSection,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  TextInput,
} from '@patternfly/react-core';
import { useState, type ReactNode } from 'react';
import type { FieldError } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import { timeZone, zoneLabel } from '../../lib/format.ts';
import { Code, Time } from '../../ui/bits.tsx';
import { Refusal } from '../../ui/form.tsx';
import { listOf, words, type Binding } from './parts.tsx';

export interface Conditions {
  from: string;
  until: string;
  mfa: string;
  cidrs: string;
  zones: string[];
}
export const NONE: Conditions = { from: '', until: '', mfa: '', cidrs: '', zones: [] };

/** The moment that a clock in the reader's zone means, as the API has it. */
const moment = (text: string): string => new Date(timeZone() === 'UTC' ? `${text}Z` : text).toISOString();
export function bodyOfConditions(c: Conditions): Record<string, unknown> {
  return {
    ...(c.from ? { valid_from: moment(c.from) } : {}),
    ...(c.until ? { valid_until: moment(c.until) } : {}),
    ...(c.mfa ? { mfa_age_seconds: Number(c.mfa) } : {}),
    ...(words(c.cidrs).length > 0 ? { cidrs: words(c.cidrs) } : {}),
    ...(c.zones.length > 0 ? { in_zones: c.zones } : {}),
  };
}

interface Nets {
  id: string;
  value: string;
  fault: FieldError | undefined;
  onChange: (text: string) => void;
}
export function NetsField({ id, value, fault, onChange }: Nets) {
  const { t } = useTranslation();
  return (
    <FormGroup label={t('tokens.cidrs')} fieldId={id}>
      <TextInput
        id={id}
        dir="ltr"
        value={value}
        validated={fault ? 'error' : 'default'}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-help`}
        onChange={(_e, v) => onChange(v)}
      />
      <FormHelperText>
        <HelperText id={`${id}-help`}>
          <FaultText bad={Boolean(fault)}>{fault ? <Refusal of={fault} /> : t('tokens.cidrsHelp')}</FaultText>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}

const AGES = ['600', '3600', '28800'];
interface Props {
  value: Conditions;
  zones: readonly string[];
  /** What the API said of the networks. */
  fault: FieldError | undefined;
  onChange: (c: Conditions) => void;
}
export function ConditionFields({ value, zones, fault, onChange }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const put = (change: Partial<Conditions>): void => onChange({ ...value, ...change });
  const clock = (name: 'from' | 'until'): ReactNode => (
    <FormGroup label={t(`members.${name}`)} fieldId={`c-${name}`}>
      <TextInput
        id={`c-${name}`}
        type="datetime-local"
        dir="ltr"
        value={value[name]}
        onChange={(_e, v) => put({ [name]: v })}
      />
    </FormGroup>
  );
  return (
    <ExpandableSection
      toggleText={t('members.conditions')}
      isIndented
      isExpanded={open || fault !== undefined}
      onToggle={(_e, on) => setOpen(on)}
    >
      <div className="fields">
        {clock('from')}
        {clock('until')}
        <p className="lead">
          {t('members.clock')} <Code>{zoneLabel()}</Code>
        </p>
        <FormGroup label={t('members.mfa')} fieldId="c-mfa">
          <FormSelect id="c-mfa" value={value.mfa} onChange={(_e, v) => put({ mfa: v })}>
            <FormSelectOption value="" label={t('members.mfaNo')} />
            {AGES.map((s) => (
              <FormSelectOption key={s} value={s} label={t('members.mfaAge', { count: Number(s) / 60 })} />
            ))}
          </FormSelect>
        </FormGroup>
        <NetsField id="c-cidrs" value={value.cidrs} fault={fault} onChange={(v) => put({ cidrs: v })} />
        {zones.length > 0 && (
          <FormGroup role="group" label={t('members.inZones')} fieldId="c-zones">
            {zones.map((z) => (
              <Checkbox
                key={z}
                id={`c-zone-${z}`}
                label={<Code>{z}</Code>}
                isChecked={value.zones.includes(z)}
                onChange={(_e, on) => put({ zones: on ? [...value.zones, z] : value.zones.filter((x) => x !== z) })}
              />
            ))}
          </FormGroup>
        )}
      </div>
    </ExpandableSection>
  );
}

/** What a binding asks for, one line each; nothing for a role that simply holds. */
export function ConditionList({ of: b }: { of: Binding }) {
  const { t } = useTranslation();
  const lines: [string, ReactNode][] = [];
  if (b.valid_from)
    lines.push([
      'from',
      <>
        {t('members.sayFrom')} <Time at={b.valid_from} />
      </>,
    ]);
  if (b.valid_until)
    lines.push([
      'until',
      <>
        {t('members.sayUntil')} <Time at={b.valid_until} />
      </>,
    ]);
  if (b.mfa_age_seconds > 0)
    lines.push(['mfa', t('members.mfaAge', { count: Math.max(1, Math.round(b.mfa_age_seconds / 60)) })]);
  if (listOf(b.cidrs).length > 0)
    lines.push([
      'net',
      <>
        {t('members.sayNets')} <Code>{listOf(b.cidrs).join(' ')}</Code>
      </>,
    ]);
  if (listOf(b.in_zones).length > 0)
    lines.push([
      'zones',
      <>
        {t('members.sayZones')} <Code>{listOf(b.in_zones).join(' ')}</Code>
      </>,
    ]);
  if (lines.length === 0) return <span className="lead">{t('members.always')}</span>;
  return (
    <ul className="plain">
      {lines.map(([key, line]) => (
        <li key={key}>{line}</li>
      ))}
    </ul>
  );
}
