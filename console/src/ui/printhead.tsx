// SPDX-License-Identifier: Apache-2.0
// printhead.tsx - the head of a printed page: whose it is, who printed it and when, and where it is found again.
import { useState, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { dateTime, zoneLabel } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { organisationOf } from '../lib/titles.ts';

export function PrintHead() {
  const { t } = useTranslation();
  const { me } = useSession();
  const [at, setAt] = useState(() => new Date().toISOString());
  useEffect(() => {
    const on = (): void => setAt(new Date().toISOString());
    addEventListener('beforeprint', on);
    return () => removeEventListener('beforeprint', on);
  }, []);
  return (
    <div className="print-head">
      <strong>{t('shell.product')}</strong> · <bdi>{organisationOf(me)}</bdi> ·{' '}
      {t('shell.printed', { who: `\u2068${me.name}\u2069`, when: `${dateTime(at)} (\u2066${zoneLabel()}\u2069)` })}
      <div>
        <bdi dir="ltr">{location.href}</bdi>
      </div>
    </div>
  );
}
