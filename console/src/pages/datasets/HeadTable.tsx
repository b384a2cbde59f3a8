// SPDX-License-Identifier: Apache-2.0
// HeadTable.tsx - the first rows of a table as they stand in the file; it scrolls in its own box, for tables have many columns.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import type { Head } from '../../lib/csvread.ts';

export const HEAD_ROWS = 20;
const COLUMNS_MAX = 100;

export function HeadTable({ head, label, name }: { head: Head; label: string; name: string }) {
  const { t } = useTranslation();
  const names = head.names.slice(0, COLUMNS_MAX);
  return (
    <>
      <div className="head-table" role="region" aria-label={name} tabIndex={0} dir="ltr">
        <Table variant="compact" gridBreakPoint="" aria-label={name} translate="no">
          <Thead>
            <Tr>
              {names.map((n, i) => (
                <Th key={i} className={n === label ? 'is-label' : ''}>
                  {n}
                </Th>
              ))}
            </Tr>
          </Thead>
          <Tbody>
            {head.rows.slice(0, HEAD_ROWS).map((r, y) => (
              <Tr key={y}>
                {names.map((n, i) => (
                  <Td key={i} className={n === label ? 'is-label' : ''}>
                    {r[i]}
                  </Td>
                ))}
              </Tr>
            ))}
          </Tbody>
        </Table>
      </div>
      <p className="lead">
        {t('datasets.headOf', {
          rows: number(Math.min(head.rows.length, HEAD_ROWS)),
          columns: number(head.names.length),
        })}
        {head.names.length > COLUMNS_MAX ? ` ${t('datasets.headCut', { max: number(COLUMNS_MAX) })}` : ''}
      </p>
    </>
  );
}
