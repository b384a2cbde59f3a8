// SPDX-License-Identifier: Apache-2.0
// csvread.ts - the first rows of a CSV file (RFC 4180) from its first bytes; a row that the bytes cut is left out.
export interface Head {
  names: string[];
  rows: string[][];
}
/** whole: the text is all of the file, so its last line counts even without a line end. */
export function readHead(text: string, whole: boolean, max: number): Head {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  for (let i = 0; i < body.length && rows.length <= max; i++) {
    const c = body[i]!;
    if (isQuoted) {
      if (c !== '"') cell += c;
      else if (body[i + 1] === '"') cell += body[++i]!;
      else isQuoted = false;
    } else if (c === '"' && cell === '') {
      isQuoted = true;
    } else if (c === ',') {
      row.push(cell);
      cell = '';
    } else if (c === '\n') {
      rows.push([...row, cell.endsWith('\r') ? cell.slice(0, -1) : cell]);
      row = [];
      cell = '';
    } else {
      cell += c;
    }
  }
  if (whole && rows.length <= max && (cell !== '' || row.length > 0)) rows.push([...row, cell]);
  return { names: rows[0] ?? [], rows: rows.slice(1, max + 1) };
}
