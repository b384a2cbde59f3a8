// SPDX-License-Identifier: Apache-2.0
// Prefs.tsx - the switches of language, theme, density, time zone and digits.
import { Button, Form, FormGroup, FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { zoneLabel } from '../lib/format.ts';
import { setPrefs, usePrefs, type Prefs } from '../lib/prefs.ts';

const OTHER = { en: { lang: 'ar', label: 'العربية' }, ar: { lang: 'en', label: 'English' } } as const;

/** Each language is written in itself. */
export function LanguageButton() {
  const other = OTHER[usePrefs().lang];
  return (
    <Button variant="plain" lang={other.lang} onClick={() => setPrefs({ lang: other.lang })} className="language">
      {other.label}
    </Button>
  );
}

export function PrefsForm() {
  const { t } = useTranslation();
  const prefs = usePrefs();
  const rows: [keyof Prefs, string, [string, string][]][] = [
    [
      'lang',
      t('prefs.lang'),
      [
        ['en', OTHER.ar.label],
        ['ar', OTHER.en.label],
      ],
    ],
    [
      'theme',
      t('prefs.theme'),
      [
        ['system', t('prefs.system')],
        ['light', t('prefs.light')],
        ['dark', t('prefs.dark')],
      ],
    ],
    [
      'density',
      t('prefs.density'),
      [
        ['normal', t('prefs.normal')],
        ['compact', t('prefs.compact')],
      ],
    ],
    [
      'zone',
      t('prefs.zone'),
      [
        ['local', t('prefs.local')],
        ['utc', 'UTC'],
      ],
    ],
    [
      'digits',
      t('prefs.digits'),
      [
        ['latn', '0123456789'],
        ['arab', '٠١٢٣٤٥٦٧٨٩'],
      ],
    ],
    [
      'keys',
      t('prefs.keys'),
      [
        ['on', t('prefs.on')],
        ['off', t('prefs.off')],
      ],
    ],
  ];
  return (
    <Form isWidthLimited onSubmit={(e) => e.preventDefault()}>
      {rows.map(([name, label, options]) => (
        <FormGroup key={name} label={label} fieldId={`pref-${name}`}>
          <FormSelect id={`pref-${name}`} value={prefs[name]} onChange={(_e, v) => setPrefs({ [name]: v })}>
            {options.map(([value, text]) => (
              <FormSelectOption key={value} value={value} label={text} {...(name === 'lang' ? { lang: value } : {})} />
            ))}
          </FormSelect>
        </FormGroup>
      ))}
      <p className="lead">
        {t('prefs.zoneNow')} <bdi dir="ltr">{zoneLabel()}</bdi>
      </p>
    </Form>
  );
}
