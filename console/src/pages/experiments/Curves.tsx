// SPDX-License-Identifier: Apache-2.0
// Curves.tsx - each metric of the runs over one another. Read when this part is opened, and drawn when it is in sight.
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { readSeries } from '../../api/series.ts';
import type { Run } from '../../lib/runs.ts';
import { measures, type Columns, type Line, type Measure } from '../../lib/series.ts';
import { ChartSet } from '../../ui/chartset.tsx';
import { Answer } from '../../ui/states.tsx';

const POINTS = 2000; // of one line: fifty runs lie over one another
const TOGETHER = 4; // runs read at the same time: a browser has about six connections for a host

/** Of each run its newest execution: the older ones went over the same steps. */
function merge(rows: readonly Columns[][], runs: readonly Run[], names: Map<string, string>): Measure[] {
  const out = new Map<string, Line[]>();
  rows.forEach((list, i) => {
    const run = runs[i]!;
    for (const m of measures(list, String)) {
      if (m.name.startsWith('system.')) continue;
      const line = { ...m.lines.at(-1)!, key: run.id, label: names.get(run.id) ?? run.name, colour: i };
      (out.get(m.name) ?? out.set(m.name, []).get(m.name)!).push(line);
    }
  });
  return [...out].map(([name, lines]) => ({ name, lines })).sort((a, b) => a.name.localeCompare(b.name));
}

export default function Curves({ runs, names }: { runs: Run[]; names: Map<string, string> }) {
  const { t } = useTranslation();
  const ids = runs.map((r) => r.id).join();
  const query = useQuery({
    queryKey: ['/v1/jobs', 'curves', ids],
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      const rows: Columns[][] = runs.map(() => []);
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let i = next++; i < runs.length; i = next++) rows[i] = await readSeries(runs[i]!.id, signal, POINTS);
      };
      await Promise.all(Array.from({ length: TOGETHER }, worker));
      return rows;
    },
  });
  const all = useMemo(() => (query.data ? merge(query.data, runs, names) : []), [query.data, runs, names]);
  return (
    <Answer of={query}>
      {() => (all.length === 0 ? <p className="lead">{t('job.noMetrics')}</p> : <ChartSet measures={all} />)}
    </Answer>
  );
}
