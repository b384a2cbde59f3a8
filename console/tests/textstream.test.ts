// SPDX-License-Identifier: Apache-2.0
// textstream.test.ts - events of text, however they are cut; what is no piece is an error.
import { expect, test } from 'vitest';
import { Cut, pieceReader, piecesOf } from '../src/lib/textstream.ts';

const stream =
  'data: {"model_name":"w","model_version":"1","text_output":"ف"}\n\n: ping\n\n' +
  'data: {"model_name":"w","model_version":"1","text_output":" 1","finish_reason":"length","generated_tokens":2}\n\n';

test('any cut gives the same pieces', () => {
  for (let step = 1; step <= stream.length; step++) {
    const read = pieceReader();
    const pieces = Array.from({ length: Math.ceil(stream.length / step) }, (_, i) =>
      read(stream.slice(i * step, (i + 1) * step)),
    ).flat();
    expect(pieces.map((p) => p.text_output)).toEqual(['ف', ' 1']);
    expect(pieces[1]).toMatchObject({ finish_reason: 'length', generated_tokens: 2 });
  }
});

test('bytes are read as they come, a character over two of them too', async () => {
  const bytes = new TextEncoder().encode(stream);
  const body = new ReadableStream<Uint8Array>({
    start(c) {
      for (const b of bytes) c.enqueue(new Uint8Array([b]));
      c.close();
    },
  });
  const seen: (string | undefined)[] = [];
  for await (const p of piecesOf(body)) seen.push(p.text_output);
  expect(seen).toEqual(['ف', ' 1']);
});

test('what is no piece is an error, and an error is told', () => {
  expect(() => pieceReader()('data: {"text_output":7}\n\n')).toThrow();
  expect(() => pieceReader()('data: x\n\n')).toThrow();
  expect(pieceReader()('data: {"error":"the model has ended"}\n\n')).toEqual([{ error: 'the model has ended' }]);
});

test('a text that was cut off before anything said why it ended is no whole text', async () => {
  const read = async (text: string): Promise<number> => {
    let n = 0;
    for await (const p of piecesOf(new Blob([text]).stream())) n += Object.keys(p).length > 0 ? 1 : 0;
    return n;
  };
  await expect(read(stream)).resolves.toBe(2);
  await expect(read('data: {"error":"the model has ended"}\n\n')).resolves.toBe(1);
  await expect(read(stream.slice(0, stream.indexOf(': ping')))).rejects.toThrow(Cut);
  await expect(read('')).rejects.toThrow(Cut);
});

test('who stops reading ends the request', async () => {
  let ended = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (c) => c.enqueue(new TextEncoder().encode('data: {"text_output":"x"}\n\n')),
    cancel: () => void (ended = true),
  });
  for await (const p of piecesOf(body)) if (p.text_output === 'x') break;
  expect(ended).toBe(true);
});
