// SPDX-License-Identifier: Apache-2.0
// Pager.tsx - the way through the pages of a list. The API tells no totals: there is a next page or there is none.
import { Button, FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';

interface Props {
  label: string;
  rows: number;
  size: string;
  first: boolean;
  last: boolean;
  toFirst: () => void;
  toNext: () => void;
  setSize: (size: string) => void;
}

export function Pager({ label, rows, size, first, last, toFirst, toNext, setSize }: Props) {
  const { t } = useTranslation();
  // All of it is on the page: there is nowhere to go and nothing to choose.
  if (first && last && size === '20')
    return (
      <p className="pager">
        <span>{t('list.shown', { count: rows })}</span>
      </p>
    );
  return (
    <nav className="pager" aria-label={t('list.pages', { what: label })}>
      <span>{t('list.shown', { count: rows })}</span>
      <FormSelect aria-label={t('list.size')} value={size} onChange={(_e, v) => setSize(v === '20' ? '' : v)}>
        {['20', '50', '100', '200'].map((n) => (
          <FormSelectOption key={n} value={n} label={t('list.sizeOf', { n })} />
        ))}
      </FormSelect>
      <Button variant="secondary" isDisabled={first} onClick={toFirst}>
        {t('list.first')}
      </Button>
      <Button variant="secondary" isDisabled={last} onClick={toNext}>
        {t('list.next')}
      </Button>
    </nav>
  );
}
