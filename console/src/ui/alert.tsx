// SPDX-License-Identifier: Apache-2.0
// alert.tsx - PatternFly's alert, whose hidden word for what kind it is would be English on an Arabic page.
import { Alert as Plain, type AlertProps } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';

export function Alert(props: AlertProps) {
  const { t } = useTranslation();
  return <Plain variantLabel={t(`alert.${props.variant ?? 'custom'}`)} {...props} />;
}
