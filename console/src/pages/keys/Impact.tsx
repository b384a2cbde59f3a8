// SPDX-License-Identifier: Apache-2.0
// Impact.tsx - in the dialogs of the acts that end reading: how much hangs on the key; of one version, by the same count as
// its own page.
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Note } from '../../ui/note.tsx';
import { kinds } from './Radius.tsx';

export function Impact({ zone, version = 0, dataKeys }: { zone: string; version?: number; dataKeys: number }) {
  const { t } = useTranslation();
  const impact = useGet(
    `/v1/keys/${encodeURIComponent(zone)}/versions/${version}/impact`,
    {},
    { enabled: version > 0 },
  );
  return (
    <Note variant="warning" title={t('keyring.impact', { count: dataKeys })}>
      {impact.data && impact.data.things.length > 0 && (
        <ul>
          {kinds(impact.data.things).map(({ kind, count }) => (
            <li key={kind}>{t(`keyring.count_${kind}`, { count, n: number(count) })}</li>
          ))}
        </ul>
      )}
      <p>{t('keyring.impactJobs')}</p>
    </Note>
  );
}
