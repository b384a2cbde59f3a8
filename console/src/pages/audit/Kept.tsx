// SPDX-License-Identifier: Apache-2.0
// Kept.tsx - the head that a log is held against: kept from before, or co-signed by a witness whose key is given beside it.
import { Button, FormGroup, FormHelperText, HelperText, TextInput } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import type { KeptFault } from '../../lib/audit-kept.ts';
import { FilePick } from '../../ui/filepick.tsx';

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
  const isCosigned = value.text.includes('falaj-cosignature');
  const take = async (file: File | undefined): Promise<void> => {
    if (file) put({ ...value, name: file.name, text: await file.slice(0, BYTES_MAX).text() });
  };
  return (
    <>
      <FormGroup label={t('verify.kept')} fieldId={id}>
        <FilePick id={id} describedBy={`${id}-help`} accept=".json,application/json" take={(f) => void take(f)}>
          {value.name || t('verify.keptChoose')}
        </FilePick>{' '}
        {value.name && (
          <Button variant="link" isInline onClick={() => put(NOTHING_KEPT)}>
            {t('verify.keptNone')}
          </Button>
        )}
        <FormHelperText>
          <HelperText id={`${id}-help`}>
            <FaultText bad={Boolean(fault)}>{t(fault ? `verify.kept_${fault}` : 'verify.keptHelp')}</FaultText>
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
