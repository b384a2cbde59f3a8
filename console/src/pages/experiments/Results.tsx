// SPDX-License-Identifier: Apache-2.0
// Results.tsx - the results of runs, the best of each marked in bold and by a word.
import { Label } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { best, columnsOf, isResult, lessIsBetter, moreIsBetter, nameOf, type Run } from '../../lib/runs.ts';
import { Code, To } from '../../ui/bits.tsx';

export function Results({ runs, names }: { runs: Run[]; names: Map<string, string> }) {
  const { t } = useTranslation();
  const results = columnsOf(runs).filter(isResult).map(nameOf);
  if (results.length === 0) return <p className="lead">{t('runs.noResults')}</p>;
  return (
    <div className="runs-scroll" role="region" aria-label={t('runs.results')} tabIndex={0}>
      <Table variant="compact" aria-label={t('runs.results')} gridBreakPoint="">
        <Thead>
          <Tr>
            <Th>{t('runs.result')}</Th>
            <Th>{t('runs.better')}</Th>
            {runs.map((r) => (
              <Th key={r.id}>
                <To to={`/jobs/${r.id}?tab=metrics`}>
                  <bdi translate="no">{names.get(r.id)}</bdi>
                </To>
              </Th>
            ))}
          </Tr>
        </Thead>
        <Tbody>
          {results.map((name) => {
            const top = best(runs, name);
            return (
              <Tr key={name}>
                <Th scope="row">
                  <Code>{name}</Code>
                </Th>
                <Td>{lessIsBetter(name) ? t('runs.less') : moreIsBetter(name) ? t('runs.greater') : '\u2013'}</Td>
                {runs.map((r) => {
                  const v = r.results.get(name);
                  const is = top.has(r.id) && top.size < runs.length;
                  return (
                    <Td key={r.id} className={is ? 'best' : ''}>
                      {v !== undefined && <Code>{number(v, 6)}</Code>}
                      {is && (
                        <>
                          {' '}
                          <Label isCompact color="green">
                            {t('runs.best')}
                          </Label>
                        </>
                      )}
                    </Td>
                  );
                })}
              </Tr>
            );
          })}
        </Tbody>
      </Table>
    </div>
  );
}
