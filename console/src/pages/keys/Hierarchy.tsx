// SPDX-License-Identifier: Apache-2.0
// Hierarchy.tsx - what wraps what in one zone: an ordered list that reads the same aloud as it looks.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { number } from '../../lib/format.ts';
import { Code } from '../../ui/bits.tsx';
import { Word } from './pieces.tsx';

export function Hierarchy({ of: k, root }: { of: Schemas['key_summary']; root: number | undefined }) {
  const { t } = useTranslation();
  const isOwn = k.tier === 'sovereign';
  return (
    <ol className="ladder" aria-label={t('keyring.ladder')}>
      <li>
        <div className="rung">
          <strong>{t(isOwn ? 'keyring.token' : 'keyring.rootKey')}</strong>
          <Word of="provider" value={k.provider} />
          {root !== undefined && <div className="lead">{t('keyring.versionOf', { version: number(root) })}</div>}
        </div>
      </li>
      <li>
        <div className="rung">
          <strong>{t('keyring.tenantKey')}</strong>
          <Word of="tier" value={k.tier} />
          <div className="lead">{t('keyring.versionOf', { version: number(k.primary_version) })}</div>
        </div>
      </li>
      <li>
        <div className="rung">
          <strong>{t('keyring.dataKeys')}</strong>
          {t('keyring.dataKeysOf', { count: k.data_keys })}
          <div className="lead">{t('keyring.eachOwn')}</div>
        </div>
      </li>
      <li>
        <div className="rung">
          <strong>{t('keyring.objects')}</strong>
          {t('keyring.objectsBody')}
          <div className="lead">
            <Code>{k.zone}</Code>
          </div>
        </div>
      </li>
    </ol>
  );
}
