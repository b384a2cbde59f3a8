// SPDX-License-Identifier: Apache-2.0
// upload.ts - one file to the API with its progress, which fetch cannot tell. The API takes a version as one body: what is broken off
// begins anew. The session is looked at before the first byte, so that a login in between costs no second upload.
import { changeHeaders, getJson, problemOf } from './client.ts';

export async function upload<T>(
  path: string,
  file: File,
  type: string,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<T> {
  await getJson('/v1/me');
  return await new Promise<T>((done, fail) => {
    const call = new XMLHttpRequest();
    call.open('POST', path);
    for (const [k, v] of Object.entries(changeHeaders())) call.setRequestHeader(k, v);
    call.setRequestHeader('content-type', type);
    call.upload.onprogress = (e) => onProgress(e.loaded);
    call.onload = () => {
      if (call.status >= 200 && call.status < 300) done(JSON.parse(call.responseText) as T);
      else fail(problemOf(call.status, call.responseText, call.getResponseHeader('retry-after')));
    };
    call.onerror = () => fail(problemOf(0, '', null));
    call.onabort = () => fail(new DOMException('', 'AbortError'));
    signal.addEventListener('abort', () => call.abort());
    call.send(file);
  });
}

export const HASH_MAX = 512 * 1024 * 1024; // WebCrypto wants the whole file in memory
export async function sha256(file: Blob): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
  return [...digest].map((b) => b.toString(16).padStart(2, '0')).join('');
}
