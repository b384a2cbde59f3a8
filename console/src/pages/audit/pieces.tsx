// SPDX-License-Identifier: Apache-2.0
// pieces.tsx - small parts that the pages of the audit log share.
import { Button, ClipboardCopy } from '@patternfly/react-core';
import { TimesIcon } from '@patternfly/react-icons';
import { useTranslation } from 'react-i18next';

export { Button };
export function CloseButton({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return <Button variant="plain" aria-label={t('act.close')} icon={<TimesIcon />} onClick={onClose} />;
}
/** A line for the shell, ready to be taken along. */
export function Line({ children, label }: { children: string; label: string }) {
  const { t } = useTranslation();
  return (
    <div className="cli-line">
      <ClipboardCopy
        isReadOnly
        hoverTip={t('act.copy')}
        clickTip={t('act.copied')}
        textAriaLabel={label}
        dir="ltr"
        translate="no"
      >
        {children}
      </ClipboardCopy>
    </div>
  );
}
