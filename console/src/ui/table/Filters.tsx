// SPDX-License-Identifier: Apache-2.0
// Filters.tsx - the filters of a list: text, choice, range of time.
import { Button, FormSelect, FormSelectOption, SearchInput, TextInput, ToolbarItem } from '@patternfly/react-core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fromLocalInput, toLocalInput, zoneLabel } from '../../lib/format.ts';
import { CALENDAR } from '../../lib/calendar.ts';
import { SINCE } from '../../lib/lists.ts';
import type { Search } from '../../lib/search.ts';
import { timeNames } from './search.ts';
import type { Filter } from './types.ts';

interface One {
  filter: Filter;
  search: Search;
  prefix: string;
  put: (changes: Search) => void;
}

function TextFilter({ filter, search, prefix, put }: One) {
  const { t } = useTranslation();
  const value = search[prefix + filter.name] ?? '';
  const [text, setText] = useState(value);
  const [short, setShort] = useState(false);
  useEffect(() => setText(value), [value]);
  const min = filter.min ?? 1;
  const send = (): void => {
    const wanted = text.trim();
    setShort(wanted !== '' && [...wanted].length < min);
    if (wanted === '' || [...wanted].length >= min) put({ [filter.name]: wanted });
  };
  return (
    <>
      <SearchInput
        aria-label={filter.label}
        placeholder={filter.label}
        value={text}
        onChange={(_e, v) => {
          setText(v);
          setShort(false);
        }}
        onSearch={send}
        onClear={() => put({ [filter.name]: '' })}
        searchInputId={`filter-${prefix}${filter.name}`}
        resetButtonLabel={t('act.clear')}
        submitSearchButtonLabel={t('act.search')}
      />
      <small role="status">{short ? t('list.short', { count: min }) : ''}</small>
    </>
  );
}

function ChoiceFilter({ filter, search, prefix, put }: One) {
  const { t } = useTranslation();
  return (
    <FormSelect
      aria-label={filter.label}
      value={search[prefix + filter.name] ?? ''}
      onChange={(_e, v) => put({ [filter.name]: v })}
    >
      <FormSelectOption
        value=""
        label={filter.name === 'sort' ? t('list.defaultOrder') : t('list.any', { what: filter.label })}
      />
      {filter.options!.map((o) => (
        <FormSelectOption key={o.value} value={o.value} label={o.label} />
      ))}
    </FormSelect>
  );
}

/** Relative ranges stay relative in the address; absolute ones are asked for in the zone that the page shows. */
function TimeFilter({ filter, search, prefix, put }: One) {
  const { t } = useTranslation();
  const { from, to } = timeNames(filter);
  const since = search[`${prefix}since`] ?? '';
  const [own, setOwn] = useState(false);
  const absolute = own || search[prefix + from] !== undefined || search[prefix + to] !== undefined;
  const choose = (v: string): void => {
    setOwn(v === 'own');
    if (v !== 'own') put({ since: v, [from]: '', [to]: '' });
  };
  return (
    <span className="time-filter">
      <FormSelect
        aria-label={filter.label}
        value={since !== '' ? since : absolute ? 'own' : ''}
        onChange={(_e, v) => choose(v)}
      >
        <FormSelectOption value="" label={t('range.all')} />
        {[...Object.keys(SINCE), ...CALENDAR].map((s) => (
          <FormSelectOption key={s} value={s} label={t(`range.${s}`)} />
        ))}
        <FormSelectOption value="own" label={t('range.own')} />
      </FormSelect>
      {absolute && since === '' && (
        <span className="time-own">
          {([from, to] as const).map((name) => (
            <label key={name}>
              <span>{name === from ? t('range.from') : t('range.to')}</span>
              <TextInput
                type="datetime-local"
                id={`filter-${prefix}${name}`}
                dir="ltr"
                value={toLocalInput(search[prefix + name])}
                onChange={(_e, v) => put({ since: '', [name]: fromLocalInput(v) })}
              />
            </label>
          ))}
          <bdi dir="ltr" className="lead">
            {zoneLabel()}
          </bdi>
        </span>
      )}
    </span>
  );
}

export function Filters({ filters, search, prefix, put }: Omit<One, 'filter'> & { filters: readonly Filter[] }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const hidden = filters.filter((f) => f.more === true);
  const shown = filters.filter((f) => f.more !== true || open || search[prefix + f.name]);
  return (
    <>
      {shown.map((f) => {
        const One = f.kind === 'time' ? TimeFilter : f.options ? ChoiceFilter : TextFilter;
        return (
          <ToolbarItem key={f.name}>
            <One filter={f} search={search} prefix={prefix} put={put} />
          </ToolbarItem>
        );
      })}
      {hidden.length > 0 && (
        <ToolbarItem>
          <Button variant="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t('list.fewer') : t('list.more')}
          </Button>
        </ToolbarItem>
      )}
    </>
  );
}
