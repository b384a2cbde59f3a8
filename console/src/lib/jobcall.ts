// SPDX-License-Identifier: Apache-2.0
// jobcall.ts - the same request as a command line, as curl and as a file: what stands there runs as it is.
import { JOB_TYPES } from '../api/gen/jobtypes.ts';
import { fieldsOf, kindOf, showField, valueAt, type JobField, type Json } from './jobrequest.ts';
import { USUAL } from './jobtypes.ts';

export const quoted = (s: string): string => `'${s.replaceAll("'", "'\\''")}'`;
const word = (s: string): string => (/^[\w.,:@/-]+$/.test(s) && !s.startsWith('-') ? s : quoted(s));
/** A value that begins with a hyphen is not read as a flag when it is joined to its own. */
const flag = (name: string, value: string): string =>
  /^-[\d.]+$/.test(value) ? `--${name}=${value}` : `--${name} ${word(value)}`;

/** Outside a spec a flag of yes or no has no value: there is none that says no, which is what the API takes without it. */
const outerFlag = (f: JobField, value: unknown): string[] =>
  f.kind !== 'flag' ? [flag(f.flag!, showField(value))] : value === true ? [`--${f.flag!}`] : [];

const manyOf = (array: string): string[] => (array === '' ? [] : [flag('array', array)]);
/** The line that takes the request from a file. */
export const fileOf = (array = ''): string => ['falaj job submit', ...manyOf(array), '--file request.json'].join(' ');
/**
 * Flags where every member has one; the whole spec where one of its members has none; a file on standard input for the rest.
 * array: its indexes and how many run at once; empty: one job.
 */
export function cliOf(request: Json, array = ''): string {
  const many = manyOf(array);
  const kind = kindOf(request);
  const name = showField(request['name']);
  const set = fieldsOf(kind).filter((f) => {
    const v = valueAt(request, f.path);
    return v !== undefined && v !== null && v !== '';
  });
  const filled = Object.entries(JOB_TYPES[kind].spec!.properties).filter(([, m]) => m.readOnly);
  const known = new Set([...set.map((f) => f.path), 'spec', ...filled.map(([n]) => `spec.${n}`)]);
  const isGroup = (k: string): boolean => k !== 'spec' && set.some((f) => f.path.startsWith(`${k}.`));
  const below = (k: string): string[] =>
    isGroup(k) ? Object.keys(request[k] as Json).map((inner) => `${k}.${inner}`) : [k];
  const names = [
    ...Object.keys(request).flatMap(below),
    ...Object.keys((request['spec'] ?? {}) as Json).map((k) => `spec.${k}`),
  ];
  const isForeign = names.some((n) => !known.has(n) && valueAt(request, n) !== '');
  const needsFile = set.some((f) => !f.path.startsWith('spec.') && f.path !== 'name' && f.flag === undefined);
  if (isForeign || needsFile || name.startsWith('-'))
    return `${['falaj job submit', ...many, '--file -'].join(' ')} <<'JSON'\n${JSON.stringify(request)}\nJSON`;
  const outer = set.filter((f) => !f.path.startsWith('spec.') && f.flag !== undefined && f.path !== 'kind');
  const inner = set.filter((f) => f.path.startsWith('spec.'));
  // A spec's defaults are the same on the command line and in the API, but an empty list of layers has no flag.
  const isPlain = inner.every((f) => f.flag !== undefined && showField(valueAt(request, f.path)) !== '');
  const parts = [
    `falaj job submit ${word(name === '' ? 'NAME' : name)}`,
    ...(kind === USUAL ? [] : [`--kind ${kind}`]),
    ...(isPlain
      ? inner.map((f) => flag(f.flag!, showField(valueAt(request, f.path))))
      : [`--spec ${quoted(JSON.stringify(request['spec'] ?? {}))}`]),
    ...outer.flatMap((f) => outerFlag(f, valueAt(request, f.path))),
    ...many,
  ];
  return parts.join(' ');
}
/** key: of this request, so that the line run twice makes one job. */
export function curlOf(request: Json, base: string, key: string, array = ''): string {
  return [
    'curl -sS --fail-with-body',
    '-H "Authorization: Bearer $FALAJ_TOKEN"',
    `-H 'Idempotency-Key: ${key}'`,
    "-H 'Content-Type: application/json'",
    `-d ${quoted(JSON.stringify(array === '' ? request : { array, job: request }))}`,
    `'${base}/v1/${array === '' ? 'jobs' : 'arrays'}'`,
  ].join(' ');
}
