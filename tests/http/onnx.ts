// SPDX-License-Identifier: Apache-2.0
// onnx.ts - small ONNX files, written field by field (protobuf; onnx.proto): what a test needs of models
// that other programs make.

const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
const int = (field: number, n: number): Buffer => Buffer.from([...varint(field << 3), ...varint(n)]);
const bytes = (field: number, b: Buffer): Buffer =>
  Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(b.length)]), b]);
const text = (field: number, s: string): Buffer => bytes(field, Buffer.from(s));
const message = (field: number, ...parts: Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

const FLOAT = 1;
/** A dimension that is a word stays open. */
export type Dim = number | string;
export const value = (field: number, name: string, dims: Dim[]): Buffer => {
  const shape = dims.map((d) => message(1, typeof d === 'number' ? int(1, d) : text(2, d)));
  return message(field, text(1, name), message(2, message(1, int(1, FLOAT), message(2, ...shape))));
};
export const input = (name: string, dims: Dim[]): Buffer => value(11, name, dims);
export const output = (name: string, dims: Dim[]): Buffer => value(12, name, dims);
export const tensor = (name: string, dims: number[], data: number[]): Buffer =>
  message(
    5,
    ...dims.map((d) => int(1, d)),
    int(2, FLOAT),
    text(8, name),
    bytes(9, Buffer.from(new Float32Array(data).buffer)),
  );
export const ints = (name: string, list: number[]): Buffer =>
  message(5, text(1, name), ...list.map((n) => int(8, n)), int(20, 7));
export const node = (op: string, name: string, ins: string[], outs: string[], attrs: Buffer[] = []): Buffer =>
  message(1, ...ins.map((i) => text(1, i)), ...outs.map((o) => text(2, o)), text(3, name), text(4, op), ...attrs);
export const model = (...graph: Buffer[]): Buffer =>
  Buffer.concat([int(1, 8), text(2, 'falaj-tests'), message(7, ...graph), message(8, int(2, 17))]);
