// SPDX-License-Identifier: Apache-2.0
// energy-sums.ts - what a job's attempts took of electricity together.
import type { Schemas } from '../../api/client.ts';

type Attempt = Pick<Schemas['attempt_view'], 'cpu_mj' | 'gpu_mj' | 'started_at' | 'finished_at'>;

const joules = (a: Attempt) => ((a.cpu_mj ?? 0) + (a.gpu_mj ?? 0)) / 1000;
const seconds = (a: Attempt) =>
  a.started_at && a.finished_at ? (Date.parse(a.finished_at) - Date.parse(a.started_at)) / 1000 : 0;

/** Sums over the attempts that were measured; null: none was, or one with GPUs measured only its processors. */
export function energyOf(attempts: Attempt[], gpus: number): { joules: number; watts: number } | null {
  const ended = attempts.filter((a) => a.finished_at && a.started_at);
  const whole = ended.every((a) => a.cpu_mj !== undefined && (gpus === 0 || a.gpu_mj !== undefined));
  if (ended.length === 0 || !whole) return null;
  const sum = ended.reduce((n, a) => n + joules(a), 0);
  const time = ended.reduce((n, a) => n + seconds(a), 0);
  return { joules: sum, watts: time > 0 ? sum / time : 0 };
}

/** The rows or tokens that a job learnt from; 0: its result says none, for a program names its figures as it likes. */
export function itemsOf(result: unknown): number {
  const n = (result as { items?: unknown } | null | undefined)?.items;
  return typeof n === 'number' && n > 0 ? n : 0;
}
