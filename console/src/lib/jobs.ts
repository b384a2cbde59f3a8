// SPDX-License-Identifier: Apache-2.0
// jobs.ts - the states of a job and their groups, in the order of a job's life (docs/gen/job_states.md).
export const JOB_STATES = [
  'PENDING',
  'HELD',
  'ADMITTED',
  'STARTING',
  'RUNNING',
  'COMPLETING',
  'SUSPENDED',
  'PREEMPTING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TIMEOUT',
  'DEADLINE',
  'OUT_OF_MEMORY',
  'NODE_FAIL',
  'PREEMPTED',
  'REJECTED',
] as const;
export const JOB_GROUPS = ['waiting', 'running', 'done', 'failed'] as const;
const at = (state: string): number => JOB_STATES.indexOf(state as (typeof JOB_STATES)[number]);
export const isEnded = (state: string): boolean => at(state) >= at('COMPLETED');
export const isWaiting = (state: string): boolean => ['PENDING', 'HELD', 'SUSPENDED'].includes(state);
/** Ended by itself and not well: its reader has come for the reason. */
export const isBad = (state: string): boolean =>
  isEnded(state) && !['COMPLETED', 'CANCELLED', 'PREEMPTED'].includes(state);
