// SPDX-License-Identifier: Apache-2.0
// pieces.tsx - words for what the API names, the advice to rotate, and how far wrapped keys have moved.
import { Label, Progress } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Code, Time } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import './keys.css';

/** A value of the API in the reader's words, where there are any. */
export function Word({ of, value }: { of: string; value: string | undefined }) {
  const { t, i18n } = useTranslation();
  const key = `keyring.${of}_${value}`;
  return i18n.exists(key) ? <>{t(key)}</> : <Code>{value}</Code>;
}
export function Advice({ value }: { value: string | undefined }) {
  const { t } = useTranslation();
  if (!value)
    return (
      <Label isCompact color="green">
        {t('keyring.fresh')}
      </Label>
    );
  return (
    <Label isCompact color={value === 'rotate-now' ? 'red' : 'orange'}>
      {t(value === 'rotate-now' ? 'keyring.rotateNow' : 'keyring.rotateSoon')}
    </Label>
  );
}

export function Moves({ path }: { path: `/v1/keys/${string}/rewraps` | `/v1/zones/${string}/keys/rewraps` }) {
  const { t } = useTranslation();
  const moves = useGet(path, { page_size: 5 }, { everyMs: 3000 });
  return (
    <Answer of={moves}>
      {(page) =>
        page.data.length === 0 ? (
          <p className="lead">{t('keyring.noMoves')}</p>
        ) : (
          <>
            {page.data.map((r) => (
              <div key={r.rewrap_id}>
                <Progress
                  className="meter"
                  size="sm"
                  measureLocation="top"
                  title={t('keyring.move', { version: number(r.to_version) })}
                  value={r.total > 0 ? Math.round((100 * r.done) / r.total) : 100}
                  label={t('overview.of', { used: number(r.done), limit: number(r.total) })}
                  {...(r.failed > 0 ? { variant: 'danger' as const } : {})}
                />
                <p className="lead">
                  {t(`keyring.rewrap_${r.state}`)} <Time at={r.finished_at ?? r.updated_at} ago />
                  {r.failed > 0 && ` · ${t('keyring.stuck', { count: r.failed })}`}
                </p>
              </div>
            ))}
          </>
        )
      }
    </Answer>
  );
}
