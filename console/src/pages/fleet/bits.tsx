// SPDX-License-Identifier: Apache-2.0
// bits.tsx - small things of the fleet: how much of a machine is leased, how fresh its word, certificate and version are.
import { Label } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number, percent } from '../../lib/format.ts';
import { Code, Time } from '../../ui/bits.tsx';
import { certOf, type Node, type Share } from './data.ts';

/** As many cells as can be told apart; beyond, a bar. */
const CELLS_MAX = 32;

/** How much of it is leased: as a number, and as cells or a bar that say the same to the eye. */
export function ShareLine({ label, share, cells = false }: { label: string; share: Share; cells?: boolean }) {
  const { t } = useTranslation();
  const { used, of } = share;
  return (
    <div>
      <div className="share-line">
        <span>{label}</span>
        <span>
          {used === undefined
            ? number(of)
            : t('workers.share', { used: number(used), of: number(of), share: percent(of > 0 ? used / of : 0) })}
        </span>
      </div>
      {cells && of <= CELLS_MAX ? (
        <div className="share-cells" aria-hidden="true">
          {Array.from({ length: of }, (_, i) => (
            <i key={i} className={used !== undefined && i < used ? 'on' : ''} />
          ))}
        </div>
      ) : (
        used !== undefined && (
          <div className="share-bar" aria-hidden="true">
            <i style={{ inlineSize: `${of > 0 ? Math.min(100, (100 * used) / of) : 0}%` }} />
          </div>
        )
      )}
    </div>
  );
}

export const usePlatformVersion = (): string | undefined => useGet('/version', {}, {}).data?.version;

/** A badge where the machine's agent is of another version than the API that it talks to. */
export function Skew({ node, version }: { node: Node; version: string | undefined }) {
  const { t } = useTranslation();
  if (!node.version || version === undefined || node.version === version) return null;
  return (
    <Label isCompact color="orange">
      {t('workers.skew')} <Code>{node.version}</Code>
    </Label>
  );
}
export function Certificate({ node, quiet = false }: { node: Node; quiet?: boolean }) {
  const { t } = useTranslation();
  const how = certOf(node);
  if (how === 'none' || (quiet && how === 'good')) return null;
  return (
    <span>
      {how !== 'good' && (
        <Label isCompact color={how === 'over' ? 'red' : 'orange'}>
          {how === 'over' ? t('workers.certOver') : t('workers.certLate')}
        </Label>
      )}{' '}
      {!quiet && <Time at={node.cert_ends_at} ago />}
    </span>
  );
}
