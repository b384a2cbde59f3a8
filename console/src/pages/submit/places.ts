// SPDX-License-Identifier: Apache-2.0
// places.ts - where a job may run: what the judge of residency says of each zone for the class of the data, and where the data lies.
import { useQueries } from '@tanstack/react-query';
import { RESIDENCY_EXPLAIN_IN_DATA_CLASS } from '../../api/gen/enums.ts';
import { oneOf } from '../../lib/oneof.ts';
import { change } from '../../api/client.ts';
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
  const zones = useGet('/v1/zones', { page_size: ZONES_MAX }, { enabled: can('zone:read') });
  const codes = [...new Set([...me.allowed_zones, ...(zones.data?.data ?? []).map((z) => z.code!)])];
  const known = oneOf(RESIDENCY_EXPLAIN_IN_DATA_CLASS, dataClass);
  const answers = useQueries({
    queries: codes.map((zone) => ({
      queryKey: ['/v1/residency/explain', { zone, dataClass, lies, act }],
      enabled: can('zone:read') && known !== undefined,
      staleTime: 60_000,
      queryFn: () =>
        change('POST', '/v1/residency/explain', {
          data_class: known!,
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
