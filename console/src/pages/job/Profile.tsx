// SPDX-License-Identifier: Apache-2.0
// Profile.tsx - where the time of a training job's steps went, by operation, beside what its machine can do at most.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { number, percent } from '../../lib/format.ts';
import { profileOf, type Profile as ProfileOf } from '../../lib/jobresult.ts';
import { Code } from '../../ui/bits.tsx';

type Row = ProfileOf['rows'][number];
const PHASES: Record<string, string> = {
  forward: 'job.phaseForward',
  backward: 'job.phaseBackward',
  update: 'job.phaseUpdate',
  evaluation: 'job.phaseEvaluation',
};
const LIMITS: Record<string, string> = { products: 'job.limitProducts', memory: 'job.limitMemory' };

export function Profile({ result }: { result: unknown }) {
  const { t } = useTranslation();
  const whole = profileOf(result);
  if (!whole) return null;
  const columns: [string, (r: Row) => React.ReactNode][] = [
    [t('job.operation'), (r) => <Code>{r.operation}</Code>],
    [t('job.phase'), (r) => (PHASES[r.phase] ? t(PHASES[r.phase]!) : r.phase)],
    [t('job.calls'), (r) => number(r.calls)],
    [t('job.perStep'), (r) => number(r.ms, 4)],
    [t('job.share'), (r) => percent(r.share)],
    ['GFLOP/s', (r) => (r.gflops > 0 ? number(r.gflops, 3) : '')],
    ['GB/s', (r) => number(r.gbytes, 3)],
    [t('job.roof'), (r) => percent(r.roof)],
    [t('job.limit'), (r) => (LIMITS[r.limit] ? t(LIMITS[r.limit]!) : r.limit)],
  ];
  return (
    <>
      <h2 className="block">{t('job.profile')}</h2>
      <p className="lead">
        {t('job.profileLead', {
          steps: number(whole.steps),
          ms: number(whole.ms, 4),
          wait: percent(whole.data_wait),
          gflops: `\u2068${number(whole.peak_gflops, 3)} GFLOP/s\u2069`,
          gbytes: `\u2068${number(whole.peak_gbytes, 3)} GB/s\u2069`,
        })}
      </p>
      <Table variant="compact" aria-label={t('job.profile')} gridBreakPoint="grid-md">
        <Thead>
          <Tr>
            {columns.map(([name]) => (
              <Th key={name}>{name}</Th>
            ))}
          </Tr>
        </Thead>
        <Tbody>
          {whole.rows.map((r) => (
            <Tr key={`${r.operation} ${r.phase}`}>
              {columns.map(([name, of]) => (
                <Td key={name} dataLabel={name}>
                  {of(r)}
                </Td>
              ))}
            </Tr>
          ))}
        </Tbody>
      </Table>
    </>
  );
}
