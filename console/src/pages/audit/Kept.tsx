// SPDX-License-Identifier: Apache-2.0
// Kept.tsx - the head that a log is held against: kept from before, or co-signed by a witness whose key is given beside it.
import { Button, FormGroup, FormHelperText, HelperText, HelperTextItem, TextInput } from '@patternfly/react-core';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { KeptFault } from '../../lib/audit-kept.ts';

export interface Given {
  name: string;
  text: string;
  witness: string;
}
export const NOTHING_KEPT: Given = { name: '', text: '', witness: '' };
const BYTES_MAX = 8192;

export function KeptField({
  id,
  value,
  put,
  fault,
}: {
  id: string;
  value: Given;
  put: (v: Given) => void;
  fault: KeptFault | '';
}) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const isCosigned = value.text.includes('falaj-cosignature');
  const take = async (file: File | undefined): Promise<void> => {
    if (file) put({ ...value, name: file.name, text: await file.slice(0, BYTES_MAX).text() });
  };
  return (
    <>
      <FormGroup label={t('verify.kept')} fieldId={id}>
        <input
          ref={input}
          type="file"
          hidden
          accept=".json,application/json"
          onChange={(e) => {
            void take(e.target.files?.[0]);
            e.target.value = '';
          }}
        />
        <Button id={id} variant="secondary" aria-describedby={`${id}-help`} onClick={() => input.current?.click()}>
          {value.name || t('verify.keptChoose')}
        </Button>{' '}
        {value.name && (
          <Button variant="link" isInline onClick={() => put(NOTHING_KEPT)}>
            {t('verify.keptNone')}
          </Button>
        )}
        <FormHelperText>
          <HelperText id={`${id}-help`}>
            <HelperTextItem variant={fault ? 'error' : 'default'}>
              {t(fault ? `verify.kept_${fault}` : 'verify.keptHelp')}
            </HelperTextItem>
          </HelperText>
        </FormHelperText>
      </FormGroup>
      {isCosigned && (
        <FormGroup label={t('verify.witness')} fieldId={`${id}-witness`}>
          <TextInput
            id={`${id}-witness`}
            dir="ltr"
            value={value.witness}
            onChange={(_e, witness) => put({ ...value, witness })}
          />
        </FormGroup>
      )}
    </>
  );
}
