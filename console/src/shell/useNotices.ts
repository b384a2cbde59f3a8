// SPDX-License-Identifier: Apache-2.0
// useNotices.ts - from the stream: a job of mine that has ended, an approval that waits for somebody like me.
//
// An event names an id and a state only; whose it is is read. At most PER_MINUTE such readings: more jobs ending at once are a list, not news.
import { useCallback, useEffect, useRef, useState } from 'react';
import { get, type Schemas } from '../api/client.ts';
import { useLive, useLiveEvents, type LiveEvent } from '../api/live.ts';
import { isEnded } from '../lib/jobs.ts';
import { addNotice, readNotices, writeNotices, type Notice } from '../lib/notices.ts';
import { useSession } from './session.tsx';

const PER_MINUTE = 20;
const DECIDES = ['approval:tenant', 'approval:residency', 'approval:key', 'approval:hold', 'approval:erasure'];

export function useNotices(): { list: Notice[]; readAll: () => void; clear: () => void } {
  const { me, can } = useSession();
  const user = me.user_id ?? 'nobody';
  const [list, setList] = useState(() => readNotices(user, localStorage));
  const times = useRef<number[]>([]);
  const decides = can('approval:read') && DECIDES.some(can);
  useLive(['jobs', ...(decides ? ['approvals'] : [])], []);
  const put = useCallback(
    (f: (old: Notice[]) => Notice[]) =>
      setList((old) => {
        const next = f(old);
        writeNotices(user, next, localStorage);
        return next;
      }),
    [user],
  );
  const mayRead = (): boolean => {
    const now = Date.now();
    times.current = times.current.filter((x) => now - x < 60_000);
    return times.current.length < PER_MINUTE && times.current.push(now) > 0;
  };
  const waits = useCallback(
    (a: Schemas['approval']) => {
      if (a.state !== 'PENDING' || a.requested_by === user) return;
      const id = a.approval_id!;
      const one = { key: `${id} PENDING`, kind: 'approval' as const, id, name: a.subject ?? '', state: a.kind! };
      put((old) => addNotice(old, { ...one, at: Date.parse(a.created_at ?? ''), read: false }));
    },
    [put, user],
  );
  useEffect(() => {
    if (decides)
      get('/v1/approvals', { state: 'PENDING', page_size: 20 })
        .then((page) => page.data.reverse().forEach(waits))
        .catch(() => undefined);
  }, [decides, waits]);
  useLiveEvents(
    useCallback(
      (e: LiveEvent) => {
        if (e.id === null || e.kind === 'ready') return;
        if (e.topic === 'jobs' && isEnded(e.kind) && mayRead())
          get(`/v1/jobs/${e.id}`)
            .then((j) => {
              if (j.created_by !== user || !isEnded(j.state)) return;
              const one = { key: `${j.job_id!} ${j.state}`, kind: 'job' as const, id: j.job_id!, name: j.name ?? '' };
              put((old) => addNotice(old, { ...one, state: j.state, at: Date.now(), read: false }));
            })
            .catch(() => undefined);
        if (e.topic === 'approvals' && e.kind === 'PENDING' && mayRead())
          get(`/v1/approvals/${e.id}`)
            .then(waits)
            .catch(() => undefined);
      },
      [put, user, waits],
    ),
  );
  const readAll = useCallback(
    () => put((old) => (old.some((n) => !n.read) ? old.map((n) => ({ ...n, read: true })) : old)),
    [put],
  );
  const clear = useCallback(() => put(() => []), [put]);
  return { list, readAll, clear };
}
