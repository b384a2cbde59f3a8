// SPDX-License-Identifier: Apache-2.0
// cause.tsx - how a job ended, in the reader's language where the platform said it; a program's own words as they are.
import { useTranslation } from 'react-i18next';
import { causeOf } from '../lib/jobcause.ts';

export function Cause({ message }: { message: string | undefined }) {
  const { t } = useTranslation();
  if (!message) return null;
  const known = causeOf(message);
  if (known) return <span title={message}>{t(`cause.${known.name}`, known.values)}</span>;
  return (
    <bdi lang="en" dir="ltr" translate="no">
      {message}
    </bdi>
  );
}
