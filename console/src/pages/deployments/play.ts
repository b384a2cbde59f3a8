// SPDX-License-Identifier: Apache-2.0
// play.ts - one question to a model with its times, what was asked in this visit, and examples kept in this browser.
import { useState } from 'react';
import { getResponse } from '../../api/client.ts';
import type { InferAnswer, InferRequest } from '../../lib/tensors.ts';

export interface Asked {
  at: string;
  request: InferRequest;
  answer: InferAnswer;
  /** From the click to the parsed answer, and the part that was spent waiting for the server's first byte. */
  ms: number;
  serverMs: number | null;
  /** What the data says the answer should be, where the row came from the data set. */
  truth?: string;
}
const EXAMPLES_MAX = 20;
export const HISTORY_MAX = 20;

export async function ask(path: string, request: InferRequest): Promise<Asked> {
  const at = new Date().toISOString();
  const started = performance.now();
  const response = await getResponse(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const answer = (await response.json()) as InferAnswer;
  const ms = performance.now() - started;
  const timed = performance
    .getEntriesByType('resource')
    .filter((e): e is PerformanceResourceTiming => e.name.endsWith(path) && e.startTime >= started - 1)
    .at(-1);
  const waited = timed && timed.responseStart > 0 ? timed.responseStart - timed.requestStart : null;
  performance.clearResourceTimings();
  return { at, request, answer, ms, serverMs: waited };
}

export interface Example {
  name: string;
  request: InferRequest;
}
/** Examples of one deployment; in this browser only, for they may hold data. */
export function useExamples(tenant: string, deployment: string) {
  const key = `falaj.play.${tenant}.${deployment}`;
  const [list, setList] = useState<Example[]>(() => {
    try {
      const read: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
      return Array.isArray(read) ? (read as Example[]).slice(0, EXAMPLES_MAX) : [];
    } catch {
      return [];
    }
  });
  const put = (next: Example[]): void => {
    setList(next);
    try {
      if (next.length > 0) localStorage.setItem(key, JSON.stringify(next));
      else localStorage.removeItem(key);
    } catch {
      /* a full store keeps what it has */
    }
  };
  return {
    list,
    save: (name: string, request: InferRequest) =>
      put([{ name, request }, ...list.filter((x) => x.name !== name)].slice(0, EXAMPLES_MAX)),
    drop: (name: string) => put(list.filter((x) => x.name !== name)),
  };
}
