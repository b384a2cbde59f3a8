// SPDX-License-Identifier: Apache-2.0
// Impact.tsx - what stops being readable with a key: data keys, and the data sets and models that are in its zone.
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Name } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';

const SHOWN = 8;

export function Impact({ zone, dataKeys }: { zone: string; dataKeys: number }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const sets = useGet('/v1/datasets', { page_size: 200 }, { enabled: can('dataset:read') });
  const here = (sets.data?.data ?? []).filter((d) => {
    const at = (d as { zone?: string }).zone;
    return at === undefined || at === zone;
  });
  return (
    <Note variant="warning" title={t('keyring.impact', { count: dataKeys })}>
      {here.length > 0 && (
        <>
          <p>{t('keyring.impactSets', { count: here.length })}</p>
          <ul>
            {here.slice(0, SHOWN).map((d) => (
              <li key={d.dataset_id}>
                <Name>{d.name}</Name>
              </li>
            ))}
          </ul>
          {here.length > SHOWN && <p>{t('keyring.impactMore', { n: number(here.length - SHOWN) })}</p>}
        </>
      )}
      <p>{t('keyring.impactJobs')}</p>
    </Note>
  );
}
