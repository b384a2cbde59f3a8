// SPDX-License-Identifier: Apache-2.0
// diff.tsx - values side by side, row by row of their parts; what is the same can be put away.
import { Switch } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { DiffRow } from '../lib/beside.ts';
import { number } from '../lib/format.ts';
import { Code } from './bits.tsx';
import './diff.css';

export function DiffTable({
  label,
  rows,
  heads,
  keys,
}: {
  label: string;
  rows: DiffRow[];
  heads: ReactNode[];
  keys: string[];
}) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const other = rows.filter((r) => !r.same);
  const shown = all ? rows : other;
  return (
    <>
      <div className="diff-tools">
        <Switch label={t('diff.equal')} isChecked={all} onChange={(_e, on) => setAll(on)} />
        <span className="lead">{t('diff.count', { count: other.length, n: number(other.length) })}</span>
      </div>
      {shown.length > 0 && (
        <div className="diff-scroll" role="region" aria-label={label} tabIndex={0}>
          <Table variant="compact" aria-label={label} gridBreakPoint="">
            <Thead>
              <Tr>
                <Th isStickyColumn stickyMinWidth="9rem" hasRightBorder>
                  {t('diff.part')}
                </Th>
                {heads.map((h, i) => (
                  <Th key={keys[i]}>{h}</Th>
                ))}
              </Tr>
            </Thead>
            <Tbody>
              {shown.map((r) => (
                <Tr key={r.path} className={r.same ? '' : 'differs'}>
                  <Th scope="row" isStickyColumn stickyMinWidth="9rem" hasRightBorder>
                    <Code>{r.path}</Code>
                  </Th>
                  {r.values.map((v, i) => (
                    <Td key={keys[i]}>
                      {v === undefined ? (
                        <span className="lead">{t('diff.absent')}</span>
                      ) : r.same || v === r.values[0] ? (
                        <Code>{v}</Code>
                      ) : (
                        <mark>
                          <Code>{v}</Code>
                        </mark>
                      )}
                    </Td>
                  ))}
                </Tr>
              ))}
            </Tbody>
          </Table>
        </div>
      )}
    </>
  );
}
