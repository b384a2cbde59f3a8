// SPDX-License-Identifier: Apache-2.0
// audit-verify.worker.ts - runs the verifier beside the page, so that a long log does not freeze it; reads a file or an address of the API.
import { verifyBundle, type Options, type Verdict } from './audit-verify.ts';

export interface Order {
  file?: Blob;
  url?: string;
  options: Pick<Options, 'pinned' | 'trustEmbedded' | 'previous' | 'allowUnproved'>;
}
export type Report =
  | { kind: 'progress'; verdict: Verdict; total: number }
  | { kind: 'done'; verdict: Verdict; file: Blob | null }
  | { kind: 'refused'; status: number; body: unknown }
  | { kind: 'failed'; text: string };

const scope = self as unknown as {
  postMessage: (r: Report) => void;
  onmessage: ((e: MessageEvent<Order>) => void) | null;
};

async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
async function run({ file, url, options }: Order): Promise<void> {
  let stream: ReadableStream<Uint8Array>,
    total = file?.size ?? 0;
  if (file) stream = file.stream();
  else {
    const response = await fetch(url!, { cache: 'no-store' });
    if (!response.ok || !response.body) {
      const body: unknown = await response.json().catch(() => undefined);
      return scope.postMessage({ kind: 'refused', status: response.status, body });
    }
    stream = response.body;
    total = Number(response.headers.get('content-length') ?? 0);
  }
  let kept: Blob | null = null,
    told = 0;
  const verdict = await verifyBundle(read(stream), { ...options, kept: (b) => void (kept = b) }, (now) => {
    if (Date.now() - told < 100) return;
    told = Date.now();
    scope.postMessage({ kind: 'progress', verdict: { ...now }, total });
  });
  scope.postMessage({ kind: 'done', verdict, file: url ? kept : null });
}
scope.onmessage = (e) =>
  void run(e.data).catch((error: unknown) => scope.postMessage({ kind: 'failed', text: String(error) }));
