// SPDX-License-Identifier: Apache-2.0
// uselog.ts - a job's log in a component: opened once, and asked for what is newer while the job runs.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { jobLog, type JobLog } from './joblog.ts';

const PACE_MS = 2000; // the stream of a job tells of its states, not of its lines

/** failed: it is opened at the line that says why, unless the address names another one. */
export function useJobLog(id: string, live: boolean, failed: boolean): { log: JobLog; query: UseQueryResult<boolean> } {
  const log = jobLog(id);
  useSyncExternalStore(log.watch, log.read);
  const query = useQuery({
    // Once more when it has ended: why it failed is its last line.
    queryKey: [`/v1/jobs/${id}/logs`, 'newer', live],
    refetchInterval: live ? PACE_MS : false,
    queryFn: async () => {
      if (log.opened) {
        await log.newer();
        if (failed && !log.error) await log.firstError();
      } else {
        const named = /^#L(\d+)$/.exec(location.hash)?.[1];
        const error = failed ? await log.firstError() : undefined;
        await log.open(named ? Number(named) : error?.log_id);
        log.opened = true;
      }
      return true;
    },
  });
  return { log, query };
}
