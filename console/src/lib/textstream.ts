// SPDX-License-Identifier: Apache-2.0
// textstream.ts - text that comes piece by piece: the events of /v2/models/{name}/generate_stream as objects. What a model
// sends is read strictly; an event with an error ends the text.
import { z } from 'zod/mini';

const piece = z.object({
  text_output: z.optional(z.string()),
  output_ids: z.optional(z.array(z.number())),
  finish_reason: z.optional(z.string()),
  prompt_tokens: z.optional(z.number()),
  generated_tokens: z.optional(z.number()),
  seed: z.optional(z.number()),
  error: z.optional(z.string()),
});
export type Piece = z.infer<typeof piece>;

/** Events out of text that comes in any cuts. */
export function pieceReader(): (text: string) => Piece[] {
  let rest = '';
  return (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    return events.flatMap((event) => {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n');
      return data === '' ? [] : [piece.parse(JSON.parse(data))];
    });
  };
}

/** The text was cut off: no event said why it ended. */
export class Cut extends Error {}

/** All events to the one that says why the text ended; who stops reading before ends the request too. */
export async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Piece> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  const read = pieceReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const p of read(value)) {
        ended ||= p.finish_reason !== undefined || p.error !== undefined;
        yield p;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it may have failed already
  }
  if (!ended) throw new Cut();
}
