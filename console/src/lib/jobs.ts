// SPDX-License-Identifier: Apache-2.0
// jobs.ts - the states of a job and their groups, in the order of a job's life (docs/gen/job_states.md).
import { JOB_COUNT_GROUP, JOB_STATE } from '../api/gen/enums.ts';

export const JOB_STATES = JOB_STATE;
export const JOB_GROUPS = JOB_COUNT_GROUP;
const at = (state: string): number => JOB_STATES.indexOf(state as (typeof JOB_STATES)[number]);
export const isEnded = (state: string): boolean => at(state) >= at('COMPLETED');
export const isWaiting = (state: string): boolean => ['PENDING', 'HELD', 'SUSPENDED'].includes(state);
/** A person may put it aside, and let it go on. */
export const maySuspend = (j: { state: string; cancel_requested?: boolean; suspend_requested?: boolean }): boolean =>
  !isEnded(j.state) && !['HELD', 'SUSPENDED'].includes(j.state) && !j.cancel_requested && !j.suspend_requested;
export const mayResume = (j: { state: string; suspend_requested?: boolean }): boolean =>
  j.state === 'SUSPENDED' || (j.suspend_requested === true && !isEnded(j.state));
interface Ended {
  state: string;
  reason?: string;
  message?: string;
}
/** Jobs that ended for the same cause together, in the order of the first of each. Numbers in a message make no other cause. */
export function byCause<J extends Ended>(jobs: readonly J[]): { first: J; count: number }[] {
  const out = new Map<string, { first: J; count: number }>();
  for (const j of jobs) {
    const cause = `${j.state} ${j.reason ?? ''} ${(j.message ?? '').replaceAll(/[0-9]+/g, '#')}`;
    const known = out.get(cause);
    if (known) known.count++;
    else out.set(cause, { first: j, count: 1 });
  }
  return [...out.values()];
}
interface Outlook {
  allowed: boolean;
  ready_nodes: number;
}
/** No node of the job's pool is ready in any zone where the job may run: no place in a queue brings it one. */
export const neverStarts = (zones: readonly Outlook[]): boolean =>
  zones.some((z) => z.allowed) && zones.every((z) => !z.allowed || z.ready_nodes === 0);
/** Ended by itself and not well: its reader has come for the reason. */
export const isBad = (state: string): boolean => isEnded(state) && !['COMPLETED', 'CANCELLED'].includes(state);
