// SPDX-License-Identifier: Apache-2.0
// contract.ts - reads the OpenAPI document that the platform serves, and makes requests that fit it or just miss it.
import { api, must, type Ready } from './harness.ts';

export type Schema = {
  $ref?: string; type?: string | string[]; properties?: Record<string, Schema>; required?: string[]; items?: Schema; enum?: unknown[];
  minimum?: number; maximum?: number; minLength?: number; maxLength?: number; minItems?: number; maxItems?: number; pattern?: string;
  format?: string; example?: unknown; examples?: unknown[]; default?: unknown; allOf?: Schema[]; anyOf?: Schema[]; oneOf?: Schema[];
  additionalProperties?: boolean | Schema; contentEncoding?: string; description?: string;
};
export type Parameter = { name: string; in: string; required?: boolean; schema?: Schema; $ref?: string };
export type Operation = {
  method: string; path: string; operationId?: string; parameters: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }>; $ref?: string }>;
  security?: Record<string, string[]>[];
};
export type Document = { openapi: string; paths: Record<string, Record<string, any>>; security?: Record<string, string[]>[]; components?: any };

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

export async function fetchDocument(ready: Ready): Promise<Document> {
  return must(await api(ready, null).get('/openapi.json'), 200);
}

export function deref<T extends { $ref?: string }>(doc: Document, node: T): T {
  let at: any = node;
  for (let hops = 0; at?.$ref && hops < 16; hops++) {
    at = String(at.$ref).slice(2).split('/').reduce((o: any, k) => o?.[k.replaceAll('~1', '/').replaceAll('~0', '~')], doc);
  }
  return at as T;
}

/** Every operation; `mine` leaves out those of the workers' listener, which the client listener does not serve. */
export function operations(doc: Document): Operation[] {
  const all: Operation[] = [];
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const method of METHODS) {
      const op = item[method];
      if (!op) continue;
      const parameters = [...(item['parameters'] ?? []), ...(op.parameters ?? [])].map((p: Parameter) => deref(doc, p));
      all.push({
        ...op, method: method.toUpperCase(), path, parameters, security: op.security ?? doc.security,
        requestBody: op.requestBody ? deref(doc, op.requestBody) : undefined,
      });
    }
  }
  return all;
}

export function isWorkerRoute(op: Operation): boolean {
  return op.path.startsWith('/v1/leases') || op.path === '/v1/nodes/register' || op.path === '/v1/nodes/renew';
}

/** /v2 speaks the Open Inference Protocol, whose errors are {"error": "..."}; /scim/v2 has the errors of RFC 7644 (scim.test.ts). */
export function speaksProblems(op: Operation): boolean {
  return op.path.startsWith('/v1/');
}

export function isPublic(op: Operation): boolean {
  const security = op.security ?? [];
  return security.length === 0 || security.some((s) => Object.keys(s).length === 0);
}

export function jsonBody(doc: Document, op: Operation): Schema | undefined {
  const schema = op.requestBody?.content['application/json']?.schema;
  return schema && deref(doc, schema);
}

const PREFIX: Record<string, string> = {
  tenant_id: 'tnt', user_id: 'usr', binding_id: 'rlb', token_id: 'tok', job_id: 'job', attempt_id: 'att', dataset_id: 'dst',
  object_id: 'obj', model_id: 'mdl', deployment_id: 'dpl', node_id: 'nod', join_token_id: 'jtk', reservation_id: 'rsv', engine_id: 'eng', run_id: 'egr', shared_id: 'shi', registry_id: 'reg', issuer_id: 'iss', provider_id: 'idp', group_id: 'grp',
};

/** The path with ids that are well formed and belong to nothing. */
export function samplePath(op: Operation): string {
  return op.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const schema = op.parameters.find((p) => p.in === 'path' && p.name === name)?.schema;
    const prefix = /^\^?([a-z]{2,5})_\[0-9a-f\]/.exec(schema?.pattern ?? '')?.[1] ?? PREFIX[name];
    if (prefix) return `${prefix}_${'0'.repeat(31)}1`;
    if (schema?.enum?.[0] !== undefined) return String(schema.enum[0]);
    return name === 'version' || schema?.type === 'integer' ? '1' : name === 'resource' ? 'jobs' : 'nothing-there';
  });
}

export function typeOf(schema: Schema): string | undefined {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.find((t) => t !== undefined && t !== 'null');
}

const base64OfZeros = (digits: number): string => 'A'.repeat(digits).padEnd(Math.ceil(digits / 4) * 4, '=');

/** A value that fits the schema as far as JSON Schema tells. */
export function sample(doc: Document, given: Schema, depth = 0): unknown {
  const s = deref(doc, given);
  if (s.example !== undefined) return s.example;
  if (s.examples?.[0] !== undefined) return s.examples[0];
  if (s.enum?.[0] !== undefined) return s.enum[0];
  // Beside properties, allOf and anyOf only narrow them.
  if (!s.properties && (s.allOf?.[0] || s.anyOf?.[0] || s.oneOf?.[0])) return sample(doc, (s.allOf ?? s.anyOf ?? s.oneOf)![0]!, depth + 1);
  switch (typeOf(s)) {
    case 'integer':
    case 'number':
      return Math.max(s.minimum ?? 1, Math.min(1, s.maximum ?? 1));
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: Math.max(1, s.minItems ?? 0) }, () => (s.items ? sample(doc, s.items, depth + 1) : 'x'));
    case 'string': {
      const prefix = /^\^?([a-z]{2,5})_\[0-9a-f\]/.exec(s.pattern ?? '')?.[1];
      if (prefix) return `${prefix}_${'0'.repeat(31)}1`;
      if (s.format === 'date-time') return '2030-01-01T00:00:00.000Z';
      if (s.format === 'uuid') return '00000000-0000-7000-8000-000000000001';
      if (s.contentEncoding === 'base64') return base64OfZeros(Math.max(4, s.minLength ?? 0));
      return 'x'.repeat(Math.max(1, s.minLength ?? 1));
    }
    default:
      if (!s.properties || depth > 8) return {};
      return Object.fromEntries((s.required ?? []).map((name) => [name, sample(doc, s.properties![name] ?? {}, depth + 1)]));
  }
}
