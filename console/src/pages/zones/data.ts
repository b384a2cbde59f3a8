// SPDX-License-Identifier: Apache-2.0
// data.ts - zones with what is known of them: their machines, the state of their keys, and where they are drawn.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { ZONE_LAW_DATA_CLASSES } from '../../api/gen/enums.ts';
import { get, getPage, readiness, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { shareOf, useFleet, type Node, type Share } from '../fleet/data.ts';

export type Zone = Schemas['zone'];
export type Law = Schemas['zone_law_view'];
export const CLASSES = ZONE_LAW_DATA_CLASSES;
export const strings = (v: unknown): string[] => (Array.isArray(v) ? v.map(String) : []);

/** sound: machines take work and the keys open. idle: there is no machine. hurt: machines that take no work, or keys that do not open. */
export type Health = 'sound' | 'idle' | 'hurt';
export interface ZoneView {
  zone: Zone;
  nodes: Node[] | undefined;
  slots: Share;
  gpus: Share;
  /** What the key store of the zone says; undefined: nothing is known of it here. */
  keys: string | undefined;
  health: Health;
}

/** Every zone that the reader may see: of a tenant those that it may use. The API lists at most 200. */
export function useZones(): UseQueryResult<Zone[]> {
  const { me } = useSession();
  return useQuery({
    queryKey: ['/v1/zones', 'all'],
    refetchInterval: 30_000,
    queryFn: async () => (await getPage('/v1/zones', { page_size: 200 })).data,
    select: (zones) => (me.tenant_id ? zones.filter((z) => me.allowed_zones.includes(z.code!)) : zones),
  });
}
/** A part that is down makes the whole answer 503, and the answer still says which. */
export function useReady(): UseQueryResult<Schemas['ready_out']> {
  return useQuery({
    queryKey: ['/readyz'],
    refetchInterval: 10_000,
    queryFn: readiness,
  });
}

export function useZoneViews(): { zones: UseQueryResult<Zone[]>; views: ZoneView[] } {
  const { can } = useSession();
  const zones = useZones();
  const fleet = useFleet({}, can('node:read'));
  const ready = useReady();
  const views = (zones.data ?? []).map((zone): ZoneView => {
    const nodes = fleet.data?.nodes.filter((n) => n.zone === zone.code);
    const part = ready.data?.parts?.find((p) => p.name === `keys ${zone.code!}`);
    const keys = part?.detail ? `${part.status!}: ${part.detail}` : part?.status;
    const keysHurt = keys !== undefined && keys !== 'ok';
    const health: Health = keysHurt
      ? 'hurt'
      : nodes === undefined
        ? 'sound'
        : nodes.length === 0
          ? 'idle'
          : nodes.some((n) => n.state === 'READY')
            ? 'sound'
            : 'hurt';
    return { zone, nodes, slots: shareOf(nodes ?? [], 'slots'), gpus: shareOf(nodes ?? [], 'gpus'), keys, health };
  });
  return { zones, views };
}

export const useLaw = (code: string, version = 0, enabled = true): UseQueryResult<Law> =>
  useGet(`/v1/zones/${encodeURIComponent(code)}/law`, version > 0 ? { version } : {}, { enabled });
export function useLaws(codes: readonly string[]): UseQueryResult<Law[]> {
  return useQuery({
    queryKey: ['/v1/zones', 'laws', codes],
    enabled: codes.length > 0,
    queryFn: () => Promise.all(codes.map((c) => get(`/v1/zones/${encodeURIComponent(c)}/law`))),
  });
}
