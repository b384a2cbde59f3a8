// SPDX-License-Identifier: Apache-2.0
// series.ts - what a job measured, as the API draws it up for a chart: columns, thinned so that peaks stay.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get, type Schemas } from './client.ts';
import type { QueryOf } from './paths.ts';

type Answer = Schemas['job_series_out'];
type Series = Answer['series'];
/** Of one line: more than a screen has columns, so that zooming in shows something; the API takes names times points up to 200,000. */
const POINTS = 12_000;
const PACE_MS = 3000; // the stream of a job tells of its states, not of what it measures

const MOST = 50_000; // of one line
const TOGETHER = 200_000; // of all lines of a call

const ask = (id: string, query: QueryOf<'GET', `/v1/jobs/${string}/series`>, signal?: AbortSignal): Promise<Series> =>
  get(`/v1/jobs/${id}/series`, query, signal ? { signal } : {}).then((a) => a.series);

export const readSeries = (id: string, signal?: AbortSignal, points = POINTS): Promise<Series> =>
  ask(id, { points }, signal);

/** Few lines may have more points than many: what came thinned is asked for again, as fine as it can be had. */
async function readFine(id: string, signal: AbortSignal): Promise<Series> {
  const all = await readSeries(id, signal);
  const thin = all.filter((s) => s.total > s.values.length).map((s) => s.name ?? '');
  const points = Math.min(MOST, Math.floor(TOGETHER / Math.max(1, thin.length)));
  if (thin.length === 0 || points <= POINTS) return all;
  const fine = await ask(id, { names: thin, points }, signal);
  return all.map((s) => fine.find((f) => f.name === s.name) ?? s);
}
export const useSeries = (id: string, live: boolean): UseQueryResult<Series> =>
  useQuery({
    queryKey: [`/v1/jobs/${id}/series`],
    queryFn: ({ signal }) => readFine(id, signal),
    refetchInterval: live ? PACE_MS : false,
  });
