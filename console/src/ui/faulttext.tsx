// SPDX-License-Identifier: Apache-2.0
// faulttext.tsx - what is wrong with a field, below it. PatternFly's hidden word for it, "error status", would be English on an
// Arabic page.
import { HelperTextItem, type HelperTextItemProps } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';

/** bad: it is a fault; otherwise the field's usual help. */
export function FaultText({ bad = true, ...more }: HelperTextItemProps & { bad?: boolean }) {
  const { t } = useTranslation();
  return <HelperTextItem {...(bad ? { variant: 'error' as const, screenReaderText: t('field.bad') } : {})} {...more} />;
}
