// SPDX-License-Identifier: Apache-2.0
// sending.ts - a file on its way to a data set: sent, paused, gone on with, given up. A small file is one body and begins anew; a larger one
// is an upload in parts, which outlives the page.
import { useCallback, useEffect, useRef, useState } from 'react';
import {
  begin,
  findStarted,
  giveUp,
  ONE_BODY_MAX,
  sendParts,
  sendWhole,
  type Format,
  type Started,
  type Version,
} from '../../api/upload.ts';
import { Problem } from '../../api/problem.ts';

export interface Sending {
  phase: 'idle' | 'sending' | 'paused';
  sent: number;
  /** Of what is sent whole: read again by the platform. */
  checked: number;
  lost: boolean;
  stopped: boolean;
  problem: unknown;
  /** What is at the API of this file already. */
  started: Started | null;
  /** Of a file that was just chosen: is there a beginning of it? */
  look: (file: File, digest: string | null, format: Format) => Promise<void>;
  /** Null: it did not come to its end; what the person sees is set. */
  send: (file: File, digest: string | null, format: Format) => Promise<Version | null>;
  pause: () => void;
  cancel: () => Promise<void>;
  clear: () => void;
}

/** A refused content is gone, and so is an upload that nobody finds. */
const isOver = (p: unknown): boolean => p instanceof Problem && (p.code === 'bad_data' || p.status === 404);

export function useSending(dataset: string): Sending {
  const [phase, setPhase] = useState<Sending['phase']>('idle');
  const [sent, setSent] = useState(0);
  const [checked, setChecked] = useState(0);
  const [lost, setLost] = useState(false);
  const [stopped, setStopped] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [started, setStarted] = useState<Started | null>(null);
  const own = useRef<Started | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const know = useCallback((u: Started | null) => {
    own.current = u;
    setStarted(u);
    setSent(u?.offset ?? 0);
    setChecked(0);
  }, []);
  const clear = useCallback(() => {
    know(null);
    setPhase('idle');
    setStopped(false);
    setProblem(null);
  }, [know]);

  const look = useCallback(
    async (file: File, digest: string | null, format: Format) => {
      if (file.size > ONE_BODY_MAX) know(await findStarted(dataset, file.size, digest, format).catch(() => null));
    },
    [dataset, know],
  );
  const send = useCallback(
    async (file: File, digest: string | null, format: Format) => {
      const here = (stop.current = new AbortController());
      const inParts = file.size > ONE_BODY_MAX;
      setPhase('sending');
      setProblem(null);
      setStopped(false);
      try {
        if (!inParts) return await sendWhole(dataset, file, format, setSent, here.signal);
        if (!own.current)
          know(
            (await findStarted(dataset, file.size, digest, format)) ??
              (await begin(dataset, file.size, digest, format)),
          );
        return await sendParts(own.current!, file, {
          onProgress: setSent,
          onChecked: setChecked,
          onLost: setLost,
          signal: here.signal,
        });
      } catch (p) {
        const asked = p instanceof DOMException && p.name === 'AbortError';
        if (isOver(p)) know(null);
        if (!asked) setProblem(p);
        else if (!inParts) setStopped(true);
        setPhase(inParts && own.current ? 'paused' : 'idle');
        return null;
      } finally {
        setLost(false);
      }
    },
    [dataset, know],
  );
  const pause = useCallback(() => stop.current?.abort(), []);
  const cancel = useCallback(async () => {
    stop.current?.abort();
    try {
      if (own.current) await giveUp(own.current.upload_id!);
      clear();
      setStopped(true);
    } catch (p) {
      if (isOver(p)) clear();
      else setProblem(p);
    }
  }, [clear]);
  return { phase, sent, checked, lost, stopped, problem, started, look, send, pause, cancel, clear };
}
