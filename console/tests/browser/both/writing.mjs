// SPDX-License-Identifier: Apache-2.0
// writing.mjs - a decoder writes in the playground: its text comes as it is made, may be stopped, and is the same for the same
// seed.
import { until } from '../platform.mjs';
import { seed as programs } from '../pages/programs.mjs';

export async function seed(t) {
  if (!t.ids.writer) await programs(t);
}
const PATH = (ids) => `/deployments/${ids.writer}`;
const text = (h) => h.page.locator('.written').innerText();
const pace = (h) => h.page.locator('[aria-labelledby=answer-title] > .lead');
const put = (h, key, value) => h.fill(h.word(`play.${key}`), value);

/** Asks, waits until all of it is there, and gives what was written. */
async function write(h, values) {
  for (const [key, value] of Object.entries(values)) await put(h, key, value);
  await h.press('play.write');
  await pace(h).waitFor();
  return text(h);
}

export default [
  {
    name: 'a text goes on',
    as: 'engineer',
    path: PATH,
    act: async (h, t) => {
      const asked = { prompt: 'the water of ', maxTokens: h.lang === 'ar' ? '٢٠' : '20', temperature: '0.8' };
      const first = await write(h, { ...asked, seed: '7' });
      h.must(first.startsWith('the water of'), `the prompt is gone: ${first}`);
      h.must(first.length > 'the water of '.length, 'nothing was written');
      const said = await pace(h).innerText();
      const digits = said.replace(/[٠-٩]/g, (d) => String('٠١٢٣٤٥٦٧٨٩'.indexOf(d)));
      h.must(/\b20\b/.test(digits), `not told how many tokens: ${said}`);
      h.must(digits.includes('7'), `not told the seed: ${said}`);
      h.same('the same seed again', await write(h, { seed: '7' }), first);
      // What it shows is what the door for programs answers.
      const body = { text_input: 'the water of ', parameters: { max_tokens: 20, temperature: 0.8, seed: 7 } };
      const whole = await t.tenant('POST', '/v2/models/writer/generate', body);
      h.same('the whole answer at once', first.trim(), `the water of ${whole.text_output}`.trim());
    },
  },
  {
    name: 'a text is stopped',
    as: 'engineer',
    path: PATH,
    act: async (h) => {
      // The answer is held after its first piece, as a slow model would.
      await h.page.evaluate(() => {
        const real = globalThis.fetch;
        globalThis.fetch = async (request) => {
          if (!request.url?.endsWith('/generate_stream')) return real(request);
          globalThis.stopped = false;
          request.signal.addEventListener('abort', () => (globalThis.stopped = true));
          const bytes = new TextEncoder().encode('data: {"text_output":"slow"}\n\n');
          const body = new ReadableStream({
            start(c) {
              c.enqueue(bytes);
              request.signal.addEventListener('abort', () => c.error(new DOMException('', 'AbortError')));
            },
          });
          return new Response(body);
        };
      });
      await put(h, 'prompt', 'so ');
      await h.press('play.write');
      await until('the first piece is there before the last', async () => (await text(h)) === 'so slow');
      h.must(await h.page.getByRole('button', { name: h.word('play.write') }).isDisabled(), 'it can be asked twice');
      await h.press('play.stop');
      await pace(h).waitFor();
      h.same('what came stays', await text(h), 'so slow');
      h.must(await h.page.evaluate(() => globalThis.stopped), 'the request goes on');
      h.must((await h.page.locator('.play .pf-m-danger').count()) === 0, 'a stop is told as a fault');
    },
  },
  {
    name: 'a text is cut off',
    as: 'engineer',
    path: PATH,
    act: async (h) => {
      await h.page.evaluate(() => {
        const real = globalThis.fetch;
        globalThis.fetch = async (request) =>
          request.url?.endsWith('/generate_stream') ? new Response('data: {"text_output":"half"}\n\n') : real(request);
      });
      await put(h, 'prompt', 'a ');
      await h.press('play.write');
      await h.sees(h.word('play.cut'));
      h.same('what came stays', await text(h), 'a half');
    },
  },
  {
    name: 'a number that is none',
    as: 'engineer',
    path: PATH,
    act: async (h) => {
      await put(h, 'temperature', 'warm');
      await h.press('play.write');
      const now = () => h.page.evaluate(() => document.activeElement.id);
      await until('the focus is at the wrong number', async () => (await now()) === 'play-temperature');
      h.must((await h.page.locator('.written').count()) === 0, 'it was asked all the same');
    },
  },
  {
    name: 'figures of what writes',
    as: 'engineer',
    path: PATH,
    act: async (h) => {
      await write(h, { prompt: 'the ', maxTokens: '5', seed: '1' });
      for (const key of ['tokens', 'queue', 'latency', 'together'])
        await h.page.getByText(h.word(`deploy.tile_${key}`), { exact: true }).waitFor();
    },
  },
];
