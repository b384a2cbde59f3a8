// SPDX-License-Identifier: Apache-2.0
// cluster-sums.ts - the devices of the fleet by zone, pool and model: how many there are, are out of service and are free, and
// how broken up what is free is. Pure.
import { usable, type Node } from './data.ts';

export type What = 'gpus' | 'slots';
export interface Block {
  zone: string;
  pool: string;
  /** Of its GPUs, or the flavor of a machine without. */
  model: string;
  what: What;
  machines: number;
  /** Machines that take no work, and what stands on them. */
  away: number;
  total: number;
  out: number;
  /** What the platform alone may know is absent for a tenant. */
  free: number | undefined;
  /** The most that one machine has free: what a job on one machine can get. */
  largest: number | undefined;
  /** Of what is free, the part that stands on machines which are partly in use,
    from 0 to 1: no job that wants a whole machine can have it. */
  broken: number | undefined;
}

const usedOf = (n: Node, what: What): number | undefined => (what === 'gpus' ? n.used_gpus : n.used_slots);

function block(nodes: readonly Node[], what: What): Block {
  const [first] = nodes;
  const ready = nodes.filter(usable);
  const known = ready.every((n) => usedOf(n, what) !== undefined);
  const free = ready.map((n) => Math.max(0, n[what] - (usedOf(n, what) ?? 0)));
  const sum = free.reduce((a, b) => a + b, 0);
  const whole = ready.reduce((a, n, i) => a + (free[i] === n[what] ? n[what] : 0), 0);
  return {
    zone: first!.zone,
    pool: first!.pool,
    model: (what === 'gpus' && first!.gpu_model) || first!.flavor,
    what,
    machines: nodes.length,
    away: nodes.length - ready.length,
    total: nodes.reduce((a, n) => a + n[what], 0),
    out: nodes.reduce((a, n) => a + (usable(n) ? 0 : n[what]), 0),
    free: known ? sum : undefined,
    largest: known ? Math.max(0, ...free) : undefined,
    broken: known ? (sum > 0 ? (sum - whole) / sum : 0) : undefined,
  };
}

/** GPUs of machines that have some, slots of all; by zone, then pool, then model. */
export function blocks(nodes: readonly Node[], what: What): Block[] {
  const by = new Map<string, Node[]>();
  for (const n of nodes) {
    if (what === 'gpus' && n.gpus === 0) continue;
    const key = [n.zone, n.pool, (what === 'gpus' && n.gpu_model) || n.flavor].join(' ');
    by.set(key, [...(by.get(key) ?? []), n]);
  }
  return [...by.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => block(group, what));
}
