// SPDX-License-Identifier: Apache-2.0
// Sheet.tsx - one list of a passport: all rows on the screen; on paper as many as leave room for the others, and how many more
// there are.
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';

const ON_PAPER = 6;

export function Sheet({
  title,
  none,
  heads,
  rows,
}: {
  title: string;
  none: string;
  heads: string[];
  rows: ReactNode[][];
}) {
  const { t } = useTranslation();
  const id = useId();
  const more = rows.length - ON_PAPER;
  return (
    <section aria-labelledby={id} className="passport-part">
      <h2 id={id}>{title}</h2>
      {rows.length === 0 ? (
        <p>{none}</p>
      ) : (
        <div className="wide-table scroll" role="region" aria-labelledby={id} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {heads.map((h) => (
                  <th key={h} scope="col">
                    {h}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((cells, r) => (
                // Rows of a reading do not move.
                <tr key={r} className={r < ON_PAPER ? '' : 'no-print'}>
                  {cells.map((c, i) => (
                    <td key={heads[i]}>{c}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more > 0 && <p className="only-print">{t('passport.more', { count: more, n: number(more) })}</p>}
    </section>
  );
}
