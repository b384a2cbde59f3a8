// SPDX-License-Identifier: Apache-2.0
// tensors.ts - a request of the Open Inference Protocol, version 2, from what a person types, and what its answer says of classes.
//
// The protocol has its own document, so ours says no more of these answers than "an object": what came is judged here.
import { z } from 'zod/mini';
import { latin } from './digits.ts';

const tensor = z.object({
  name: z.string(),
  datatype: z.string(),
  shape: z.array(z.number()),
  data: z.optional(z.array(z.union([z.number(), z.string(), z.boolean()]))),
});
export type Tensor = z.infer<typeof tensor>;
const meta = z.object({
  name: z.string(),
  versions: z.optional(z.array(z.string())),
  platform: z.optional(z.string()),
  inputs: z.array(tensor),
  outputs: z.array(tensor),
});
export type Meta = z.infer<typeof meta>;
/** What a served model says of itself. */
export const metaOf = (answer: unknown): Meta => meta.parse(answer);
/** A decoder: it goes on from a text, and has no tensors to fill. */
export const isWriter = (answer: unknown): boolean => meta.safeParse(answer).data?.platform === 'falaj_gpt';
export interface InferRequest {
  inputs: Tensor[];
}
export interface InferAnswer {
  model_name?: string;
  model_version?: string;
  outputs: Tensor[];
}
export const ROWS_MAX = 100;
export const GRID_MAX = 1024;

export const isText = (t: Tensor): boolean => t.datatype === 'BYTES';
/** Numbers of one row: -1 stands for as many rows as one likes. */
export const widthOf = (t: Tensor): number => t.shape.slice(1).reduce((n, d) => n * Math.max(1, d), 1);
/** The side of the square that a row draws, or 0. */
export function sideOf(t: Tensor): number {
  const width = widthOf(t);
  const side = Math.round(Math.sqrt(width));
  return !isText(t) && width > 1 && width <= GRID_MAX && side * side === width ? side : 0;
}
export type Numbers = { ok: true; numbers: number[] } | { ok: false; at: number; word: string };
export function readNumbers(text: string): Numbers {
  const numbers: number[] = [];
  for (const word of latin(text)
    .split(/[\s,،;؛[\]]+/)
    .filter((x) => x !== '')) {
    if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word)) return { ok: false, at: numbers.length + 1, word };
    numbers.push(Number(word));
  }
  return { ok: true, numbers };
}
export interface TensorFault {
  key: string;
  values: Record<string, unknown>;
}
/** One input from its text: rows of numbers one after the other, or one text for each line. */
export function tensorOf(t: Tensor, text: string): { tensor: Tensor } | { fault: TensorFault } {
  if (isText(t)) {
    const lines = text.split('\n').filter((l) => l.trim() !== '');
    if (lines.length === 0) return { fault: { key: 'field.required', values: {} } };
    const width = widthOf(t);
    const words = width > 1 ? lines.flatMap((l) => l.split(/[,،]/).map((w) => w.trim())) : lines;
    if (words.length !== lines.length * width)
      return { fault: { key: 'play.wrongCount', values: { width, n: words.length } } };
    return { tensor: { name: t.name, datatype: t.datatype, shape: shapeFor(t, lines.length), data: words } };
  }
  const read = readNumbers(text);
  const width = widthOf(t);
  if (!read.ok) return { fault: { key: 'play.noNumber', values: { at: read.at, word: read.word } } };
  const n = read.numbers.length;
  if (n === 0 || n % width !== 0) return { fault: { key: 'play.wrongCount', values: { width, n } } };
  if (n / width > ROWS_MAX) return { fault: { key: 'play.tooMany', values: { max: ROWS_MAX } } };
  const data = t.datatype === 'BOOL' ? read.numbers.map((x) => x !== 0) : read.numbers;
  return { tensor: { name: t.name, datatype: t.datatype, shape: shapeFor(t, n / width), data } };
}
const shapeFor = (t: Tensor, rows: number): number[] => [rows, ...t.shape.slice(1).map((d) => Math.max(1, d))];

export interface ClassShare {
  label: number;
  share: number;
}
/** For each row of the answer the classes, the likeliest first; none where the answer holds no shares. */
export function sharesOf(answer: InferAnswer): ClassShare[][] {
  const out = answer.outputs.find((o) => o.datatype.startsWith('FP') && o.shape.length === 2);
  if (!out?.data) return [];
  const classes = out.shape[1]!;
  return Array.from({ length: out.shape[0]! }, (_, row) =>
    Array.from({ length: classes }, (_unused, label) => ({
      label,
      share: Number(out.data![row * classes + label]),
    })).sort((a, b) => b.share - a.share),
  );
}
const quoted = (s: string): string => `'${s.replaceAll("'", "'\\''")}'`;
/** The same question from a terminal and from a program; each runs as it stands with FALAJ_TOKEN set. */
export function snippets(
  base: string,
  name: string,
  request: InferRequest,
): { id: string; title: string; text: string }[] {
  const json = JSON.stringify(request);
  const url = `${base}/v2/models/${encodeURIComponent(name)}/infer`;
  const only = request.inputs.length === 1 ? request.inputs[0]! : undefined;
  const isRow = only !== undefined && only.shape[0] === 1 && only.data?.every((x) => typeof x === 'number');
  return [
    {
      id: 'curl',
      title: 'curl',
      text: `curl -sS --fail-with-body -H "Authorization: Bearer $FALAJ_TOKEN" -H 'Content-Type: application/json' -d ${quoted(json)} ${quoted(url)}`,
    },
    {
      id: 'cli',
      title: 'CLI',
      text: isRow
        ? `falaj infer ${name} --row=${only.data!.join(',')}`
        : `falaj infer ${name} - <<'JSON'\n${json}\nJSON`,
    },
    {
      id: 'python',
      title: 'Python',
      text: [
        'import json, os, urllib.request',
        '',
        `question = json.loads(${JSON.stringify(json)})`,
        'request = urllib.request.Request(',
        `    ${JSON.stringify(url)},`,
        '    data=json.dumps(question).encode(),',
        '    headers={"Authorization": "Bearer " + os.environ["FALAJ_TOKEN"], "Content-Type": "application/json"},',
        ')',
        'with urllib.request.urlopen(request) as answer:',
        '    print(json.load(answer)["outputs"])',
      ].join('\n'),
    },
  ];
}

/** The engine that computes a model, by its version's word. */
export function engineOf(word: string | undefined): string {
  return word?.startsWith('onnxruntime') === true ? 'ONNX Runtime' : 'Falaj';
}
