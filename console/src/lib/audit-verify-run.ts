// SPDX-License-Identifier: Apache-2.0
// audit-verify-run.ts - one verification of a page: a worker of its own, its progress, its verdict; stopped when the page goes.
import { useCallback, useEffect, useRef, useState } from 'react';
import { Problem } from '../api/problem.ts';
import type { Verdict } from './audit-verify.ts';
import type { Order, Report } from './audit-verify.worker.ts';

export interface Run {
  state: 'idle' | 'running' | 'done' | 'failed';
  verdict?: Verdict;
  total: number;
  ms: number;
  file?: Blob | null;
  problem?: unknown;
}

export function useVerification(): { run: Run; start: (order: Order) => void; stop: () => void } {
  const [run, setRun] = useState<Run>({ state: 'idle', total: 0, ms: 0 });
  const worker = useRef<Worker | null>(null);
  const stop = useCallback(() => {
    worker.current?.terminate();
    worker.current = null;
    setRun((r) => (r.state === 'running' ? { state: 'idle', total: 0, ms: 0 } : r));
  }, []);
  const start = useCallback((order: Order) => {
    worker.current?.terminate();
    const w = new Worker(new URL('./audit-verify.worker.ts', import.meta.url), { type: 'module' });
    const began = performance.now();
    worker.current = w;
    const end = (r: Omit<Run, 'total' | 'ms'>): void => {
      w.terminate();
      setRun({ total: 0, ms: performance.now() - began, ...r });
    };
    setRun({ state: 'running', total: 0, ms: 0 });
    w.onerror = (e) => {
      e.preventDefault();
      end({ state: 'failed', problem: new Error(e.message) });
    };
    w.onmessage = (e: MessageEvent<Report>) => {
      const r = e.data;
      if (r.kind === 'progress')
        setRun({ state: 'running', verdict: r.verdict, total: r.total, ms: performance.now() - began });
      else if (r.kind === 'done') end({ state: 'done', verdict: r.verdict, file: r.file });
      else if (r.kind === 'refused') end({ state: 'failed', problem: new Problem(r.status, r.body) });
      else end({ state: 'failed', problem: new Error(r.text) });
    };
    w.postMessage(order);
  }, []);
  useEffect(() => () => worker.current?.terminate(), []);
  return { run, start, stop };
}
