// SPDX-License-Identifier: Apache-2.0
// Wait.tsx - the account waits after wrong tries: how long still, and what is not touched by it.

import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Note } from '../../ui/note.tsx';

/** until: milliseconds since 1970. Said once to who listens; the seconds run for who looks. */
export function Wait({ until, onOver }: { until: number; onOver: () => void }) {
  const { t } = useTranslation();
  const left = (): number => Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => {
      const n = Math.max(0, Math.ceil((until - Date.now()) / 1000));
      setSeconds(n);
      if (n === 0) onOver();
    }, 1000);
    return () => clearInterval(timer);
  }, [until, onOver]);
  return (
    <Note variant="warning" title={t('login.locked')} className="block">
      <p aria-live="off">
        {seconds >= 120
          ? t('login.waitMinutes', { count: Math.ceil(seconds / 60) })
          : t('login.wait', { count: seconds })}
      </p>
      <p>{t('login.lockedBody')}</p>
    </Note>
  );
}
