// SPDX-License-Identifier: Apache-2.0
// Field.tsx - one member of the request as a field. Empty is absent: the API then takes what it takes usually, which stands in grey.
import {
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
  TextInput,
} from '@patternfly/react-core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import { isFreeText, type JobField } from '../../lib/jobrequest.ts';
import type { Draft } from './draft.ts';
import { Words } from './Yaml.tsx';

export const fieldId = (f: JobField): string => `f-${f.path.replaceAll('.', '-')}`;
/** What its words are kept under: a member of the spec by its own name, one of another member with that one's. */
const keyOf = (f: JobField): string => f.path.replace(/^spec\./, '').replaceAll('.', '_');

export interface Option {
  value: string;
  label: string;
  isDisabled?: boolean;
}
interface Props {
  field: JobField;
  draft: Draft;
  /** Required members that are still empty are faults only once somebody wanted to submit. */
  eager: boolean;
  options?: Option[];
  below?: ReactNode;
}

export function Field({ field: f, draft, eager, options, below }: Props) {
  const { t, i18n } = useTranslation();
  const id = fieldId(f);
  const value = draft.shown(f);
  const fault = draft.faults.find((x) => {
    const at = x.path.join('.');
    return at === f.path || at.startsWith(`${f.path}.`);
  });
  const isBad = fault !== undefined && (eager || fault.key !== 'field.required');
  const isBroken = draft.syntax.length > 0;
  const name = `submit.f_${keyOf(f)}`;
  const help = `submit.h_${keyOf(f)}`;
  const list: Option[] | undefined =
    options ??
    f.options?.map((o) => {
      const word = f.path === 'kind' ? `kind.${o}` : `submit.o_${o}`;
      return { value: o, label: i18n.exists(word) ? t(word) : o };
    });
  const common = {
    id,
    name: f.path,
    'aria-describedby': `${id}-help`,
    'aria-invalid': isBad,
    isDisabled: isBroken,
    validated: isBad ? ('error' as const) : ('default' as const),
  };
  const isText = isFreeText(f);
  return (
    <FormGroup
      label={i18n.exists(name) ? t(name) : f.path.split('.').at(-1)}
      fieldId={id}
      isRequired={f.required ?? false}
      className={f.path === 'name' || f.kind === 'dataset' ? 'whole' : ''}
    >
      {list ? (
        <FormSelect {...common} value={value} onChange={(_e, v) => draft.put(f, v)}>
          {!f.required && options === undefined && (
            <FormSelectOption
              value=""
              label={t('submit.usual', {
                what: i18n.exists(`submit.o_${f.usual}`) ? t(`submit.o_${f.usual}`) : f.usual,
              })}
            />
          )}
          {value !== '' && !list.some((o) => o.value === value) && <FormSelectOption value={value} label={value} />}
          {list.map((o) => (
            <FormSelectOption key={o.value} value={o.value} label={o.label} isDisabled={o.isDisabled ?? false} />
          ))}
        </FormSelect>
      ) : (
        <TextInput
          {...common}
          value={value}
          autoComplete="off"
          placeholder={f.usual ?? ''}
          {...(isText ? { dir: 'auto' as const } : { dir: 'ltr' as const })}
          {...(f.kind === 'int' ? { inputMode: 'numeric' as const } : {})}
          {...(f.kind === 'real' ? { inputMode: 'decimal' as const } : {})}
          onChange={(_e, v) => draft.put(f, v)}
        />
      )}
      <FormHelperText>
        <HelperText id={`${id}-help`}>
          {isBad ? (
            <FaultText>
              <Words of={fault} />
            </FaultText>
          ) : i18n.exists(help) ? (
            <HelperTextItem>{t(help, { min: f.min, max: f.max, each: f.each?.join(', ') })}</HelperTextItem>
          ) : i18n.exists(name) ? null : (
            <HelperTextItem>
              <bdi lang="en">{f.doc}</bdi>
            </HelperTextItem>
          )}
        </HelperText>
      </FormHelperText>
      {below}
    </FormGroup>
  );
}
