// SPDX-License-Identifier: Apache-2.0
// jobs.ts - the states of a job and their groups, in the order of a job's life (docs/gen/job_states.md).
import { JOB_COUNT_GROUP, JOB_STATE } from '../api/gen/enums.ts';

export const JOB_STATES = JOB_STATE;
export const JOB_GROUPS = JOB_COUNT_GROUP;
const at = (state: string): number => JOB_STATES.indexOf(state as (typeof JOB_STATES)[number]);
export const isEnded = (state: string): boolean => at(state) >= at('COMPLETED');
export const isWaiting = (state: string): boolean => ['PENDING', 'HELD'].includes(state);
interface Outlook {
  allowed: boolean;
  ready_nodes: number;
}
/** No node of the job's pool is ready in any zone where the job may run: no place in a queue brings it one. */
export const neverStarts = (zones: readonly Outlook[]): boolean =>
  zones.some((z) => z.allowed) && zones.every((z) => !z.allowed || z.ready_nodes === 0);
/** Ended by itself and not well: its reader has come for the reason. */
export const isBad = (state: string): boolean => isEnded(state) && !['COMPLETED', 'CANCELLED'].includes(state);
