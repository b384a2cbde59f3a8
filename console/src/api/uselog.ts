// SPDX-License-Identifier: Apache-2.0
// uselog.ts - a job's log in a component: opened once, and asked for what is newer while the job runs.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { jobLog, type JobLog } from './joblog.ts';

const PACE_MS = 2000; // the stream of a job tells of its states, not of its lines

export function useJobLog(id: string, live: boolean): { log: JobLog; query: UseQueryResult<boolean> } {
  const log = jobLog(id);
  useSyncExternalStore(log.watch, log.read);
  const query = useQuery({
    queryKey: [`/v1/jobs/${id}/logs`, 'newer'],
    refetchInterval: live ? PACE_MS : false,
    queryFn: async () => {
      await (log.version === 0 ? log.open() : log.newer());
      return true;
    },
  });
  return { log, query };
}
