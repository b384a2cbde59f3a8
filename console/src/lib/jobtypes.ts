// SPDX-License-Identifier: Apache-2.0
// jobtypes.ts - what the console asks of a kind of job, instead of comparing its name: rows of core/wire/job_type.def.
import { JOB_TYPES, type JobKind } from '../api/gen/jobtypes.ts';

export type { JobKind };
export const KINDS = Object.keys(JOB_TYPES) as JobKind[];
export const isKind = (text: unknown): text is JobKind => KINDS.includes(text as JobKind);
export const isSubmitted = (kind: JobKind): boolean => JOB_TYPES[kind].spec !== null;
export const readsOf = (kind: JobKind): string => JOB_TYPES[kind].reads;
export const makesOf = (kind: JobKind): string => JOB_TYPES[kind].makes;
/** On how many machines at once one may run. */
export const machinesOf = (kind: JobKind): number => JOB_TYPES[kind].machines;
/** Starts a program of whoever submits it, which people may be let into. */
export const isProgram = (kind: JobKind): boolean => isSubmitted(kind) && JOB_TYPES[kind].programs;
/** The kinds that people submit; those that make something come first, and the first is what a form begins with. */
export const SUBMITTED = KINDS.filter(isSubmitted).sort(
  (a, b) => Number(makesOf(a) === '') - Number(makesOf(b) === ''),
);
export const USUAL = SUBMITTED[0]!;
/** The kinds whose jobs make such a thing; the first of them, MODEL_MAKER, trains. */
export const MODEL_MAKERS = KINDS.filter((k) => makesOf(k) === 'model');
export const MODEL_MAKER = MODEL_MAKERS[0]!;
