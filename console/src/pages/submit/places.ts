// SPDX-License-Identifier: Apache-2.0
// places.ts - where a job may run: what the judge of residency says of each zone for the class of the data, and where the data lies.
import { useQueries } from '@tanstack/react-query';
import { change, type Page, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';

const ZONES_MAX = 50;

export interface PlaceVerdict {
  zone: string;
  allowed: boolean;
  rule: string;
  text: string;
}
export function usePlaces(
  dataClass: string,
  lies: string | undefined,
  act: 'submit' | 'transfer' = 'submit',
): { verdicts: PlaceVerdict[]; isReady: boolean } {
  const { can, me } = useSession();
  const zones = useGet<Page<Schemas['zone']>>('/v1/zones', { page_size: ZONES_MAX }, { enabled: can('zone:read') });
  const codes = [...new Set([...me.allowed_zones, ...(zones.data?.data ?? []).map((z) => z.code!)])];
  const answers = useQueries({
    queries: codes.map((zone) => ({
      queryKey: ['/v1/residency/explain', { zone, dataClass, lies, act }],
      enabled: can('zone:read'),
      staleTime: 60_000,
      queryFn: () =>
        change<Schemas['explain_out']>('POST', '/v1/residency/explain', {
          data_class: dataClass,
          zone,
          act,
          ...(act === 'submit' ? { purpose: 'training' } : {}),
          ...(lies === undefined ? {} : { from: lies }),
        }),
    })),
  });
  const verdicts = codes.map((zone, i): PlaceVerdict => {
    const a = answers[i]?.data;
    return {
      zone,
      allowed: a ? a.allowed! : me.allowed_zones.includes(zone),
      rule: a?.rule ?? '',
      text: a?.text ?? '',
    };
  });
  return { verdicts, isReady: answers.every((a) => a.data !== undefined) };
}
