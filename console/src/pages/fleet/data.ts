// SPDX-License-Identifier: Apache-2.0
// data.ts - the machines of the fleet as the grid shows them: all of them, in groups of zone and pool.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { NODE_LIST_STATE } from '../../api/gen/enums.ts';
import { getPage, type Query, type Schemas } from '../../api/client.ts';

export type Node = Schemas['node'];
export interface Fleet {
  nodes: Node[];
  /** More machines fit the filters than are drawn: the table has them all. */
  cut: boolean;
}
export const NODE_STATES = NODE_LIST_STATE;
const PAGES_MAX = 5;
/** A worker renews at half of its certificate's life, which is a day: less than this is late. */
const CERT_LATE_MS = 6 * 3_600_000;

export const usable = (n: Node): boolean => n.state === 'READY';
export const certOf = (n: Node, now = Date.now()): 'none' | 'over' | 'late' | 'good' => {
  if (!n.cert_ends_at) return 'none';
  const left = Date.parse(n.cert_ends_at) - now;
  return left <= 0 ? 'over' : left < CERT_LATE_MS ? 'late' : 'good';
};

/** At most 1000 machines: five pages of 200. */
export function useFleet(filter: Query, enabled = true): UseQueryResult<Fleet> {
  return useQuery({
    queryKey: ['/v1/nodes', 'all', filter],
    enabled,
    refetchInterval: 10_000,
    queryFn: async () => {
      const nodes: Node[] = [];
      let token: string | undefined;
      for (let i = 0; i < PAGES_MAX; i++) {
        const page = await getPage('/v1/nodes', { ...filter, sort: 'name', page_size: 200, page_token: token });
        nodes.push(...page.data);
        token = page.next_page_token;
        if (token === undefined) break;
      }
      return { nodes, cut: token !== undefined };
    },
    placeholderData: keepPreviousData,
  });
}

export interface Group {
  zone: string;
  pool: string;
  nodes: Node[];
}
export function groups(nodes: readonly Node[]): Group[] {
  const by = new Map<string, Group>();
  for (const n of nodes) {
    const key = `${n.zone!} ${n.pool!}`;
    const group = by.get(key) ?? { zone: n.zone!, pool: n.pool!, nodes: [] };
    group.nodes.push(n);
    by.set(key, group);
  }
  return [...by.values()].sort((a, b) => (a.zone + a.pool < b.zone + b.pool ? -1 : 1));
}
export interface Share {
  used: number | undefined;
  of: number;
}
/** What machines have and how much of it is leased; what takes no work counts with what still runs there. */
export function shareOf(nodes: readonly Node[], what: 'slots' | 'gpus'): Share {
  const used = nodes.map((n) => (what === 'slots' ? n.used_slots : n.used_gpus));
  return {
    of: nodes.reduce((sum, n, i) => sum + (usable(n) ? n[what] : (used[i] ?? 0)), 0),
    used: used.every((u) => u === undefined) ? undefined : used.reduce<number>((sum, u) => sum + (u ?? 0), 0),
  };
}
