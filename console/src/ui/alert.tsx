// SPDX-License-Identifier: Apache-2.0
// alert.tsx - PatternFly's alert, whose hidden word for what kind it is would be English on an Arabic page.
// Its title is a paragraph: as PatternFly's h4 it would stand in the order of the page's headings, which skips h3 nearly
// everywhere.
import { Alert as Plain, type AlertProps } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';

export function Alert(props: AlertProps) {
  const { t } = useTranslation();
  return <Plain component="p" variantLabel={t(`alert.${props.variant ?? 'custom'}`)} {...props} />;
}
