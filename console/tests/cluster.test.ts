// SPDX-License-Identifier: Apache-2.0
// cluster.test.ts - devices by zone, pool and model: what is free, on one machine at most, and how broken up.
import { describe, expect, test } from 'vitest';
import { blocks } from '../src/pages/fleet/cluster-sums.ts';
import type { Node } from '../src/pages/fleet/data.ts';

const node = (over: Partial<Node>): Node =>
  ({
    zone: 'ae-dxb-1',
    pool: 'default',
    flavor: 'gpu',
    gpu_model: 'H100',
    state: 'READY',
    slots: 16,
    gpus: 8,
    used_slots: 0,
    used_gpus: 0,
    ...over,
  }) as Node;

describe('the devices of the fleet', () => {
  test('are told by zone, pool and model, in that order', () => {
    const all = [
      node({ zone: 'sa-ruh-1' }),
      node({ gpu_model: 'A100' }),
      node({}),
      node({ pool: 'big' }),
      node({ gpus: 0, gpu_model: '', flavor: 'cpu' }),
    ];
    expect(blocks(all, 'gpus').map((b) => `${b.zone} ${b.pool} ${b.model} ${b.total}`)).toEqual([
      'ae-dxb-1 big H100 8',
      'ae-dxb-1 default A100 8',
      'ae-dxb-1 default H100 8',
      'sa-ruh-1 default H100 8',
    ]);
    expect(blocks(all, 'slots').map((b) => b.model)).toEqual(['gpu', 'cpu', 'gpu', 'gpu']);
  });

  test('count as free where work is taken, and say how broken up that is', () => {
    const [b] = blocks(
      [
        node({ used_gpus: 6 }),
        node({ used_gpus: 0 }),
        node({ used_gpus: 8 }),
        node({ state: 'DRAINING', used_gpus: 1 }),
      ],
      'gpus',
    );
    expect(b).toMatchObject({ machines: 4, away: 1, total: 32, out: 8, free: 10, largest: 8 });
    expect(b!.broken).toBeCloseTo(0.2);
  });

  test('are not broken up where none is free', () => {
    expect(blocks([node({ used_gpus: 8 })], 'gpus')[0]).toMatchObject({ free: 0, largest: 0, broken: 0 });
    expect(blocks([node({ state: 'LOST' })], 'gpus')[0]).toMatchObject({ free: 0, largest: 0, broken: 0, out: 8 });
  });

  test('hide from a tenant what is in use', () => {
    const own: Partial<Node> = node({});
    delete own.used_gpus;
    expect(blocks([own as Node], 'gpus')[0]).toMatchObject({
      total: 8,
      free: undefined,
      largest: undefined,
      broken: undefined,
    });
  });
});
