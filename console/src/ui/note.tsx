// SPDX-License-Identifier: Apache-2.0
// note.tsx - an alert that stands in the page; what kind it is is read aloud in the reader's language.
import type { AlertProps } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { Alert } from './alert.tsx';

export function Note({
  variant = 'info',
  ...rest
}: Omit<AlertProps, 'variant' | 'ref'> & { variant?: 'info' | 'success' | 'warning' | 'danger' }) {
  const { t } = useTranslation();
  return <Alert isInline variant={variant} variantLabel={`${t(`note.${variant}`)}:`} {...rest} />;
}
