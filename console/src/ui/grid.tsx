// SPDX-License-Identifier: Apache-2.0
// grid.tsx - a small table that is there whole: one row for each thing, one cell for each head, a card for each row on a narrow
// window. What is read page by page or sorted is ui/table.tsx.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import type { ReactNode } from 'react';

export interface GridRow {
  id: string | number;
  cells: ReactNode[];
  /** What tests and styles know the row by. */
  outcome?: string | undefined;
}

export function Grid({
  label,
  heads,
  rows,
  className,
  breakPoint = 'grid-lg',
}: {
  label: string;
  heads: string[];
  rows: GridRow[];
  className?: string;
  breakPoint?: 'grid-md' | 'grid-lg';
}) {
  return (
    <Table aria-label={label} variant="compact" gridBreakPoint={breakPoint} className={className ?? ''}>
      <Thead>
        <Tr>
          {heads.map((h, k) => (
            <Th key={k} modifier="wrap">
              {h}
            </Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>
        {rows.map((r) => (
          <Tr key={r.id} data-outcome={r.outcome}>
            {r.cells.map((cell, k) => (
              <Td key={k} dataLabel={heads[k]!}>
                {cell}
              </Td>
            ))}
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
