// SPDX-License-Identifier: Apache-2.0
// NewPassword.tsx - how good a password is, while it is typed. Length is what counts; the server has the list of the commonest.
import { Progress, ProgressMeasureLocation, ProgressVariant } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';

export const PASSWORD_MIN = 12;
const bytes = (s: string): number => new TextEncoder().encode(s).length;

/** 0: refused, 1: accepted, 2: good, 3: very good. A character that repeats its neighbour's row adds little. */
export function strength(password: string, name: string): 0 | 1 | 2 | 3 {
  if (bytes(password) < PASSWORD_MIN || password.toLowerCase() === name.toLowerCase()) return 0;
  const different = new Set(password).size;
  if (different === 1) return 0;
  const worth = Math.min(password.length, different * 2);
  return worth >= 24 ? 3 : worth >= 16 ? 2 : 1;
}

export function Strength({ password, name = '' }: { password: string; name?: string }) {
  const { t } = useTranslation();
  const s = strength(password, name);
  if (password === '') return null;
  const missing = Math.max(0, PASSWORD_MIN - bytes(password));
  const words = [
    missing > 0 ? t('login.missing', { count: missing }) : t('login.weak'),
    t('login.fair'),
    t('login.good'),
    t('login.strong'),
  ][s]!;
  return (
    <div aria-live="polite">
      <Progress
        size="sm"
        aria-label={t('login.strength')}
        title={words}
        value={[20, 45, 75, 100][s]!}
        measureLocation={ProgressMeasureLocation.none}
        {...(s === 0
          ? { variant: ProgressVariant.danger }
          : s === 1
            ? { variant: ProgressVariant.warning }
            : { variant: ProgressVariant.success })}
      />
    </div>
  );
}
