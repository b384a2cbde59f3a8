// SPDX-License-Identifier: Apache-2.0
// jobresult.ts - what a job's result says beside numbers. The API's document says no more of a result than "an object", and a
// program names its figures as it likes: what has not this shape is no part of it.
import { z } from 'zod/mini';

const tuning = z.object({
  steps: z.number(),
  seconds: z.number(),
  ms_before: z.number(),
  ms_after: z.number(),
  bits_kept: z.boolean(),
  rows: z.array(
    z.object({
      setting: z.string(),
      value: z.string(),
      ms: z.number(),
      gain: z.number(),
      chosen: z.boolean(),
      why: z.optional(z.string()),
    }),
  ),
});
export type Tuning = z.infer<typeof tuning>;

const profile = z.object({
  steps: z.number(),
  ms: z.number(),
  data_wait: z.number(),
  peak_gflops: z.number(),
  peak_gbytes: z.number(),
  rows: z.array(
    z.object({
      operation: z.string(),
      phase: z.string(),
      calls: z.number(),
      ms: z.number(),
      share: z.number(),
      gflops: z.number(),
      gbytes: z.number(),
      roof: z.number(),
      limit: z.string(),
    }),
  ),
});
export type Profile = z.infer<typeof profile>;

const part = <T>(schema: { safeParse: (v: unknown) => { success: boolean; data?: T } }, of: unknown): T | undefined => {
  const read = schema.safeParse(of);
  return read.success ? read.data : undefined;
};
const member = (result: unknown, name: string): unknown =>
  typeof result === 'object' && result !== null ? (result as Record<string, unknown>)[name] : undefined;

/** The ways of running that were tried. */
export const tuningOf = (result: unknown): Tuning | undefined => part(tuning, member(result, 'tuning'));
/** Where the time of the steps went. */
export const profileOf = (result: unknown): Profile | undefined => part(profile, member(result, 'profile'));
