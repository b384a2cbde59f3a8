// SPDX-License-Identifier: Apache-2.0
// tensors.test.ts - questions to a model from what a person types, and the first rows of a file.
import { describe, expect, test } from 'vitest';
import { readHead } from '../src/lib/csvread.ts';
import { engineOf, readNumbers, sharesOf, sideOf, snippets, tensorOf, type Tensor } from '../src/lib/tensors.ts';

const row: Tensor = { name: 'input', datatype: 'FP32', shape: [-1, 4] };

describe('numbers as people write them', () => {
  test.each<[string, number[]]>([
    ['1,2, 3\n4', [1, 2, 3, 4]],
    ['١٢، ٣٫٥؛ −٤', [12, 3.5, -4]],
    ['[1e-3, .5]', [0.001, 0.5]],
  ])('%s', (text, numbers) => expect(readNumbers(text)).toEqual({ ok: true, numbers }));
  test('the first that is none is named', () =>
    expect(readNumbers('1,x2,y')).toEqual({ ok: false, at: 2, word: 'x2' }));
});

test.each([
  ['onnxruntime', 'ONNX Runtime'],
  ['falaj', 'Falaj'],
])('the engine of %s', (word, engine) => expect(engineOf(word)).toBe(engine));

describe('a tensor', () => {
  test('takes rows one after the other', () =>
    expect(tensorOf(row, '1,2,3,4\n5,6,7,8')).toEqual({
      tensor: { name: 'input', datatype: 'FP32', shape: [2, 4], data: [1, 2, 3, 4, 5, 6, 7, 8] },
    }));
  test.each([
    ['1,2,3', 'play.wrongCount'],
    ['', 'play.wrongCount'],
    ['1,2,3,four', 'play.noNumber'],
    [Array(404).fill(0).join(','), 'play.tooMany'],
  ])('refuses %s', (text, key) => expect(tensorOf(row, text)).toMatchObject({ fault: { key } }));
  test('of text takes lines', () =>
    expect(tensorOf({ name: 't', datatype: 'BYTES', shape: [-1] }, 'مرحبا\n\nhello')).toEqual({
      tensor: { name: 't', datatype: 'BYTES', shape: [2], data: ['مرحبا', 'hello'] },
    }));
  test('of several words takes a row of them from each line', () => {
    const words = { name: 'w', datatype: 'BYTES', shape: [-1, 2] };
    expect(tensorOf(words, 'red, north\n\nblue،south')).toEqual({
      tensor: { name: 'w', datatype: 'BYTES', shape: [2, 2], data: ['red', 'north', 'blue', 'south'] },
    });
    expect(tensorOf(words, 'red\nblue,south')).toEqual({
      fault: { key: 'play.wrongCount', values: { width: 2, n: 3 } },
    });
  });
  test('is drawn where it is a square of at most 1024', () => {
    expect(sideOf({ ...row, shape: [-1, 64] })).toBe(8);
    expect(sideOf({ ...row, shape: [-1, 8, 8] })).toBe(8);
    expect(sideOf({ ...row, shape: [-1, 63] })).toBe(0);
    expect(sideOf({ ...row, shape: [-1, 1089] })).toBe(0);
  });
});

test('the likeliest class comes first, row by row', () => {
  const outputs: Tensor[] = [{ name: 'p', datatype: 'FP32', shape: [2, 2], data: [0.25, 0.75, 0.9, 0.1] }];
  expect(sharesOf({ outputs }).map((r) => r[0])).toEqual([
    { label: 1, share: 0.75 },
    { label: 0, share: 0.9 },
  ]);
});

test('one row is a flag on the command line, more are a request', () => {
  const ask = (text: string) => {
    const r = tensorOf(row, text);
    return snippets('http://h', 'm', { inputs: 'tensor' in r ? [r.tensor] : [] }).find((s) => s.id === 'cli')!.text;
  };
  expect(ask('-1,2,3,4')).toBe('falaj infer m --row=-1,2,3,4');
  expect(ask('1,2,3,4,1,2,3,4')).toContain("falaj infer m - <<'JSON'\n{");
});

describe('the beginning of a CSV file', () => {
  test('leaves out the row that is cut', () =>
    expect(readHead('a,b\r\n1,2\r\n3,', false, 10)).toEqual({ names: ['a', 'b'], rows: [['1', '2']] }));
  test('takes the last row of a whole file without a line end', () =>
    expect(readHead('a,b\n1,2\n3,4', true, 10).rows).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]));
  test('reads quotes and the byte order mark', () =>
    expect(readHead('\uFEFF"a ""b""","c,d"\n"1\n2",3\n', true, 10)).toEqual({
      names: ['a "b"', 'c,d'],
      rows: [['1\n2', '3']],
    }));
  test('stops at the number asked for', () => expect(readHead('a\n1\n2\n3\n', true, 2).rows).toEqual([['1'], ['2']]));
});
