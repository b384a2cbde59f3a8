// SPDX-License-Identifier: Apache-2.0
// jobrequest.test.ts - the request of a job while it is written: its limits are those of the API, its YAML keeps what a person wrote, its
// command lines say the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cliOf, curlOf, fileOf } from '../src/lib/jobcall.ts';
import {
  fieldsOf,
  isOffered,
  JOB_FIELDS,
  judgeRequest,
  readField,
  showField,
  type Json,
} from '../src/lib/jobrequest.ts';
import { MODEL_MAKER, SUBMITTED, USUAL } from '../src/lib/jobtypes.ts';
import { requestOf, TEMPLATES, withDataset } from '../src/lib/templates.ts';
import { changeYaml, readYaml, writeYaml } from '../src/lib/yamltext.ts';

const root = join(import.meta.dirname, '../..');
const DST = `dst_${'a'.repeat(32)}`;
const good: Json = { name: 'one', kind: 'train', spec: { dataset_id: DST, hidden: [64, 32], epochs: 3 } };
const withSpec = (more: Json): Json => ({ ...good, spec: { ...(good['spec'] as Json), ...more } });

describe('the limits of the form are those of the API', () => {
  interface Property {
    items?: Property;
    readOnly?: boolean;
    exclusiveMinimum?: number;
    minimum?: number;
    maximum?: number;
    maxLength?: number;
    enum?: string[];
    default?: unknown;
  }
  const openapi = JSON.parse(readFileSync(join(root, 'docs/gen/openapi.json'), 'utf8')) as {
    components: { schemas: Record<string, { properties: Record<string, Property> }> };
  };
  const specs = openapi.components.schemas;
  const outer = specs['job_create']!.properties;
  test('no member of the request is missing', () =>
    expect(
      [...new Set(JOB_FIELDS.filter((f) => f.only === undefined).map((f) => f.path.split('.')[0]))].sort(),
    ).toEqual(
      Object.keys(outer)
        .filter((k) => k !== 'spec')
        .sort(),
    ));
  test.each(JOB_FIELDS.filter((f) => !f.path.includes('.')))('$path', (f) => {
    const p = outer[f.path]!;
    if (f.kind === 'int') expect([f.min, f.max]).toEqual([p.minimum, p.maximum]);
    else if (f.max !== undefined) expect(f.max).toBe(p.maxLength);
    if (f.options && f.kind !== 'flag') expect(p.enum).toEqual(expect.arrayContaining([...f.options]));
    if (p.default !== undefined) expect(f.usual).toBe(String(p.default));
  });
  test('no member of a spec is missing, and what the API fills in is not asked for', () => {
    for (const kind of SUBMITTED) {
      const form = specs[`${kind}_job`]!.properties;
      const own = fieldsOf(kind).filter((f) => f.path.startsWith('spec.'));
      const asked = Object.keys(form).filter((k) => !form[k]!.readOnly);
      expect(own.map((f) => f.path.slice(5)).sort(), kind).toEqual(asked.sort());
      for (const f of own) {
        const p = form[f.path.slice(5)]!;
        const [most, least] = [p.items?.maximum ?? p.maximum ?? p.maxLength, p.items?.minimum ?? p.minimum];
        if (most !== undefined) expect(f.max, f.path).toBe(most);
        if (least !== undefined) expect(f.min, f.path).toBe(least);
        expect(f.over, f.path).toBe(p.exclusiveMinimum);
        if (f.usual !== undefined) expect(f.usual, f.path).toBe(showField(p.default));
      }
    }
    expect(fieldsOf('train').map((f) => f.path)).toContain('spec.learning_rate');
    expect(fieldsOf('noop').map((f) => f.path)).not.toContain('spec.learning_rate');
    expect([USUAL, MODEL_MAKER]).toEqual(['train', 'train']);
  });
});

describe('a request is judged', () => {
  const keysOf = (request: unknown): string[] => judgeRequest(request).map((f) => `${f.path.join('.')} ${f.key}`);
  test('a member of a member is judged at its place, and is whole on the command line', () => {
    const again = (retry: unknown): string[] => keysOf({ ...good, retry });
    expect(again({ on: ['memory'], max: 2 })).toEqual([]);
    expect(again({ on: ['weather'] })).toEqual(['retry.on field.choice']);
    expect(again({ max: 101 })).toEqual(['retry.max field.max']);
    expect(again({ colour: 1 })).toEqual(['retry.colour field.unknown']);
    expect(cliOf({ ...good, retry: { on: ['memory', 'timeout'], backoff_s: 5 } })).toMatch(
      / --retry memory,timeout --retry-backoff 5$/,
    );
  });
  test('how many machines is asked once, of kinds that run on several, and read where a request says it', () => {
    const offered = (kind: 'run' | 'noop'): string[] =>
      fieldsOf(kind).flatMap((f) => (f.path.startsWith('nodes.') && isOffered(f, kind) ? [f.path] : []));
    expect([offered('run'), offered('noop')]).toEqual([['nodes.max'], []]);
    expect(keysOf({ ...good, nodes: { min: 2, max: 9 } })).toEqual(['nodes.max field.max']);
    expect(cliOf({ ...good, nodes: { max: 2 } })).toMatch(/ --nodes 2$/);
    expect(cliOf({ ...good, force_queue: true })).toMatch(/ --force-queue$/);
    expect(cliOf({ ...good, force_queue: false })).not.toContain('--force-queue');
    expect(cliOf({ ...good, nodes: { min: 2, max: 2 } })).toContain("--file - <<'JSON'");
  });
  test('a good one has no fault', () => expect(keysOf(good)).toEqual([]));
  test.each<[string, unknown, string]>([
    ['no name', { ...good, name: undefined }, 'name field.required'],
    ['a long name', { ...good, name: 'x'.repeat(129) }, 'name field.long'],
    ['an unknown member', { ...good, colour: 1 }, 'colour field.unknown'],
    ['an unknown member of the spec', withSpec({ epoch: 3 }), 'spec.epoch field.unknown'],
    ['a rate below nothing', withSpec({ learning_rate: -0.1 }), 'spec.learning_rate field.min'],
    ['a rate above ten', withSpec({ learning_rate: 10.5 }), 'spec.learning_rate field.max'],
    ['half an epoch', withSpec({ epochs: 2.5 }), 'spec.epochs field.whole'],
    ['words for a number', withSpec({ epochs: 'many' }), 'spec.epochs field.number'],
    ['nine layers', withSpec({ hidden: Array(9).fill(4) }), 'spec.hidden field.items'],
    ['a wide layer', withSpec({ hidden: [8193] }), 'spec.hidden field.each'],
    ['a foreign optimiser', withSpec({ optimizer: 'lion' }), 'spec.optimizer field.choice'],
    ['no spec', { name: 'one', kind: 'train' }, 'spec field.required'],
    ['a spec that is a list', { ...good, spec: [] }, 'spec field.map'],
    ['a list', [], ' submit.notMap'],
  ])('%s', (_what, request, fault) => expect(keysOf(request)).toContain(fault));
  test('a noop needs nothing and has no epochs', () => {
    expect(keysOf({ name: 'one', kind: 'noop' })).toEqual([]);
    expect(keysOf({ name: 'one', kind: 'noop', spec: { epochs: 3 } })).toEqual(['spec.epochs field.unknown']);
  });
  test.each(TEMPLATES)('the template $key lacks nothing but its names', ({ request }) =>
    expect(keysOf(withDataset({ ...request, name: 'one' }, DST))).toEqual([]),
  );
  test('a field gives back what it was given', () => {
    for (const f of JOB_FIELDS)
      for (const v of f.kind === 'ints'
        ? [[1, 2]]
        : f.kind === 'words'
          ? [['a=1', 'b=2']]
          : ['int', 'real', 'version'].includes(f.kind)
            ? [0.5, 12]
            : ['text'])
        expect(readField(f, showField(v)), f.path).toEqual(v);
  });
});

describe('YAML', () => {
  test('keeps comments, order and everything else when one member changes', () => {
    const text = '# why: a first look\nkind: train\nname: one # mine\nspec:\n  dataset_id: x\n  epochs: 3 # few\n';
    const next = changeYaml(changeYaml(text, ['spec', 'epochs'], 30), ['spec', 'hidden'], [8, 4]);
    expect(next).toBe(
      '# why: a first look\nkind: train\nname: one # mine\nspec:\n  dataset_id: x\n  epochs: 30 # few\n  hidden: [8, 4]\n',
    );
    expect(changeYaml(next, ['spec', 'hidden'], undefined)).not.toContain('hidden');
  });
  test('writes what it reads', () => expect(readYaml(writeYaml(good)).value).toEqual(good));
  test('says line and column of what does not parse', () => {
    const read = readYaml('name: one\nkind: [train\nspec: {}\n');
    expect(read.value).toBeNull();
    expect(read.faults[0]!.place.line).toBeGreaterThanOrEqual(2);
    expect(readYaml('a: 1\na: 2\n').faults[0]!.place).toMatchObject({ line: 2, col: 1 });
  });
  test('knows where a member stands, and where one would that is absent', () => {
    const read = readYaml('name: one\nspec:\n  hidden: [1,\n    9]\n  epoch: 3\n');
    expect(read.placeOf(['spec', 'epoch'])).toMatchObject({ line: 5, col: 3 });
    expect(read.placeOf(['spec', 'hidden', 1])).toMatchObject({ line: 4, col: 5 });
    expect(read.placeOf(['spec', 'dataset_id'])).toMatchObject({ line: 2, col: 1 });
    expect(read.placeOf(['kind'])).toMatchObject({ line: 1, col: 1 });
  });
  test('does not grow a small text into a large value', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (let i = 0; i < 8; i++)
      bomb.push(`${'bcdefghi'[i]}: &${'bcdefghi'[i]} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`);
    expect(readYaml(bomb.join('\n')).value).toBeNull();
  });
});

describe('the same request elsewhere', () => {
  test('as flags', () => expect(cliOf(good)).toBe(`falaj job submit one --dataset ${DST} --hidden 64,32 --epochs 3`));
  test('a name with everything in it stays one word', () =>
    expect(cliOf({ ...good, name: "it's $(rm) one" })).toContain("submit 'it'\\''s $(rm) one' --"));
  test('what begins with a hyphen is no flag', () =>
    expect(cliOf({ ...good, priority: -5 })).toContain('--priority=-5'));
  test('every member of a spec has a flag', () => {
    expect(cliOf(withSpec({ optimizer: 'sgd', early_stop_patience: 3 }))).toContain(
      '--epochs 3 --optimizer sgd --early-stop-patience 3',
    );
    expect(cliOf({ name: 'one', kind: 'noop', spec: { sleep_ms: 5 } })).toBe(
      'falaj job submit one --kind noop --sleep-ms 5',
    );
  });
  test('an empty list has no flag and takes the whole spec', () =>
    expect(cliOf(withSpec({ hidden: [] }))).toContain(`--spec '{"dataset_id":"${DST}"`));
  test('a member without a flag takes the whole request', () =>
    expect(cliOf({ ...good, queue: 'night' })).toMatch(
      /^falaj job submit --file - <<'JSON'\n{.*"queue":"night".*}\nJSON$/,
    ));
  test('curl carries the request', () =>
    expect(curlOf(good, 'http://h', 'k')).toContain(`-d '${JSON.stringify(good)}' 'http://h/v1/jobs'`));
  test('of an array says its indexes, whichever way', () => {
    expect(cliOf(good, '0-99%8')).toMatch(/ --array '0-99%8'$/);
    expect(cliOf({ ...good, queue: 'night' }, '7')).toMatch(/^falaj job submit --array 7 --file - <<'JSON'\n/);
    expect(fileOf('0-9:3')).toBe('falaj job submit --array 0-9:3 --file request.json');
    expect(fileOf()).toBe('falaj job submit --file request.json');
    expect(curlOf(good, 'http://h', 'k', '0-9')).toContain(
      `-d '${JSON.stringify({ array: '0-9', job: good })}' 'http://h/v1/arrays'`,
    );
  });
  test('of a former job, without what the API filled in and what everybody gets', () => {
    const job = {
      name: 'one',
      kind: 'train',
      spec: { dataset_id: DST, label_column: 'label', classes: 10, epochs: 3 },
      zone: 'home',
      pool: 'default',
      queue: 'default',
      slots: 2,
      gpus: 0,
      priority: 0,
      max_attempts: 3,
      max_runtime_s: 86400,
      nodes: 1,
    };
    expect(requestOf(job as never, 'home')).toEqual({
      name: 'one',
      kind: 'train',
      spec: { dataset_id: DST, epochs: 3 },
      slots: 2,
    });
    expect(requestOf({ ...job, nodes: 4 } as never, 'home')['nodes']).toEqual({ max: 4 });
  });
});
