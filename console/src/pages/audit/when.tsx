// SPDX-License-Identifier: Apache-2.0
// when.tsx - a stretch of time as people say it ("last month") or from one moment to another, as part of the address.
import { FormGroup, FormSelect, FormSelectOption, TextInput } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { CALENDAR, calendarRange, moment } from '../../lib/calendar.ts';
import { showsUtc, zoneLabel } from '../../lib/format.ts';

export const PRESETS = ['hour', 'day', 'week', 'days30', ...CALENDAR, 'custom'] as const;
export interface When {
  when: string;
  from: string;
  to: string;
}
const AGO: Record<string, number> = { hour: 3600, day: 86_400, week: 7 * 86_400, days30: 30 * 86_400 };

/** The moments that a choice means now, to the minute, so that the same choice asks the same for a while. */
export function rangeOf({ when, from, to }: When, now = Date.now()): { from?: string; to?: string } {
  const iso = (d: Date): string => d.toISOString();
  const minute = Math.ceil(now / 60_000) * 60_000;
  if (when in AGO) return { from: iso(new Date(minute - AGO[when]! * 1000)) };
  return calendarRange(when, showsUtc(), now) ?? { ...(from ? { from } : {}), ...(to ? { to } : {}) };
}
const pad = (n: number): string => String(n).padStart(2, '0');
/** A moment as the field of date and time wants it, in the reader's zone. */
export function fieldOf(at: string): string {
  const d = new Date(at);
  if (at === '' || Number.isNaN(d.getTime())) return '';
  const u = showsUtc();
  const [y, mo, da, h, mi] = u
    ? [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes()]
    : [d.getFullYear(), d.getMonth(), d.getDate(), d.getHours(), d.getMinutes()];
  return `${y}-${pad(mo + 1)}-${pad(da)}T${pad(h)}:${pad(mi)}`;
}
export function momentOf(field: string): string {
  const m = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(field);
  return m ? moment(showsUtc(), +m[1]!, +m[2]! - 1, +m[3]!, +m[4]!, +m[5]!).toISOString() : '';
}

export function WhenFields({ id, value, onChange }: { id: string; value: When; onChange: (w: When) => void }) {
  const { t } = useTranslation();
  const moments = [
    ['from', t('when.from')],
    ['to', t('when.to')],
  ] as const;
  return (
    <>
      <FormGroup label={t('when.when')} fieldId={`${id}-when`}>
        <FormSelect
          id={`${id}-when`}
          value={value.when}
          onChange={(_e, when) => onChange(when === 'custom' ? { ...value, when } : { when, from: '', to: '' })}
        >
          <FormSelectOption value="" label={t('when.any')} />
          {PRESETS.map((p) => (
            <FormSelectOption key={p} value={p} label={t(`when.${p}`)} />
          ))}
        </FormSelect>
      </FormGroup>
      {value.when === 'custom' &&
        moments.map(([name, label]) => (
          <FormGroup key={name} label={`${label} ${zoneLabel()}`} fieldId={`${id}-${name}`}>
            <TextInput
              id={`${id}-${name}`}
              type="datetime-local"
              dir="ltr"
              value={fieldOf(value[name])}
              onChange={(_e, v) => onChange({ ...value, [name]: momentOf(v) })}
            />
          </FormGroup>
        ))}
    </>
  );
}
