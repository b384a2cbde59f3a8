// SPDX-License-Identifier: Apache-2.0
// answers.ts - what an answer must have: every member that docs/gen/openapi.json calls required is there, in each answer that
// went well to any call of any test. The document is printed from the tables; whether the program keeps its promise shows only
// here.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

type Schema = { $ref?: string; properties?: Record<string, Schema>; required?: string[]; items?: Schema; anyOf?: Schema[] };
type Operation = { responses: Record<string, { content?: Record<string, { schema?: Schema }> }> };
const doc: { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } } =
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../docs/gen/openapi.json'), 'utf8'));

// A word before a capture: /v1/jobs/counts is not a job.
const routes = Object.entries(doc.paths)
  .map(([path, item]) => {
    const pattern = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/?:]+');
    return { item, test: new RegExp(`^${pattern}$`), captures: path.split('{').length };
  })
  .sort((a, b) => a.captures - b.captures);

function lacks(schema: Schema, value: unknown, at: string): string[] {
  if (schema.$ref) return lacks(doc.components.schemas[schema.$ref.split('/').at(-1)!]!, value, at);
  if (schema.anyOf) return value === null ? [] : lacks(schema.anyOf[0]!, value, at);
  if (Array.isArray(value)) return schema.items ? value.flatMap((v, i) => lacks(schema.items!, v, `${at}/${i}`)) : [];
  if (typeof value !== 'object' || value === null) return [];
  const of = value as Record<string, unknown>;
  return [
    ...(schema.required ?? []).filter((name) => !(name in of)).map((name) => `${at}/${name}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, s]) => (name in of ? lacks(s, of[name], `${at}/${name}`) : [])),
  ];
}

/** JSON pointers of what the answer should have and has not. */
export function missing(method: string, path: string, status: number, json: unknown): string[] {
  const route = routes.find((r) => r.test.test(path.split('?')[0]!));
  const schema = route?.item[method.toLowerCase()]?.responses[String(status)]?.content?.['application/json']?.schema;
  return schema === undefined ? [] : lacks(schema, json, '');
}
