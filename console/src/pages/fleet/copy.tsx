// SPDX-License-Identifier: Apache-2.0
// copy.tsx - lines to be typed elsewhere, as they are, with a button that copies all of them.
import { ClipboardCopyButton, CodeBlock, CodeBlockAction, CodeBlockCode } from '@patternfly/react-core';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';

export function Copyable({ label, text }: { label: string; text: string }) {
  const { t } = useTranslation();
  const id = useId();
  const [copied, setCopied] = useState(false);
  return (
    <CodeBlock
      dir="ltr"
      translate="no"
      actions={
        <CodeBlockAction>
          <ClipboardCopyButton
            id={`${id}-copy`}
            textId={id}
            variant="plain"
            aria-label={`${t('act.copy')}: ${label}`}
            onClick={() => {
              void navigator.clipboard.writeText(text);
              setCopied(true);
            }}
            onTooltipHidden={() => setCopied(false)}
          >
            {copied ? t('act.copied') : t('act.copy')}
          </ClipboardCopyButton>
        </CodeBlockAction>
      }
    >
      <CodeBlockCode id={id}>{text}</CodeBlockCode>
    </CodeBlock>
  );
}
