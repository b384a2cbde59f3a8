// SPDX-License-Identifier: Apache-2.0
// csv.ts - rows as CSV (RFC 4180) that a spreadsheet opens rightly and without running any of it.
//
// A cell that begins with = + - @ or a control character would be a formula; an apostrophe in front makes it text. Plain numbers stay
// numbers. The byte order mark makes Excel read Arabic as UTF-8.
const FORMULA = /^[=+\-@\t\r\n]/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

export function csvCell(value: unknown): string {
  let text =
    value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (FORMULA.test(text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(names: readonly string[], rows: readonly Record<string, unknown>[]): string {
  const lines = [names.map(csvCell), ...rows.map((row) => names.map((n) => csvCell(row[n])))];
  return `\uFEFF${lines.map((l) => l.join(',')).join('\r\n')}\r\n`;
}

export function saveAs(name: string, text: string | Blob, type = 'text/csv;charset=utf-8'): void {
  const url = URL.createObjectURL(text instanceof Blob ? text : new Blob([text], { type }));
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
