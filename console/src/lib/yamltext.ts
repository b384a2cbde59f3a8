// SPDX-License-Identifier: Apache-2.0
// yamltext.ts - a request as YAML that a person writes: read with the places of its faults, changed at one place with the rest, comments
// and order included, left as it is.
import { isMap, isNode, isScalar, LineCounter, parseDocument, stringify, type Document, type Pair } from 'yaml';
import type { Json, Path } from './jobrequest.ts';

export interface Place {
  line: number;
  col: number;
  offset: number;
}
export interface YamlFault {
  place: Place;
  words: string;
}
export interface Read {
  value: Json | null;
  faults: YamlFault[];
  placeOf: (path: Path) => Place | null;
}
const OPTIONS = { prettyErrors: false, strict: true, uniqueKeys: true } as const;
const WIDTH = { lineWidth: 0, flowCollectionPadding: false } as const;

export function readYaml(text: string): Read {
  const counter = new LineCounter();
  const doc = parseDocument(text, { ...OPTIONS, lineCounter: counter });
  const place = (offset: number): Place => {
    const at = counter.linePos(offset);
    return { line: Math.max(1, at.line), col: Math.max(1, at.col), offset };
  };
  const faults = [...doc.errors, ...doc.warnings].map((e) => ({ place: place(e.pos[0]), words: e.message }));
  let value: Json | null = null;
  if (doc.errors.length === 0) {
    try {
      value = doc.toJS({ maxAliasCount: 100 }) as Json;
    } catch (e) {
      faults.push({ place: place(0), words: e instanceof Error ? e.message : '' });
    }
  }
  return { value, faults, placeOf: (path) => placeOf(doc, path, place) };
}

/** Where a member stands: its key; where it is absent, what would hold it. */
function placeOf(doc: Document, path: Path, place: (offset: number) => Place): Place | null {
  for (let n = path.length; n > 0; n--) {
    const owner = n === 1 ? doc.contents : doc.getIn(path.slice(0, n - 1), true);
    if (isMap(owner)) {
      const pair = owner.items.find((p: Pair) => isScalar(p.key) && String(p.key.value) === String(path[n - 1]));
      if (pair && isNode(pair.key) && pair.key.range) return place(pair.key.range[0]);
    } else {
      const item = doc.getIn(path.slice(0, n), true);
      if (isNode(item) && item.range) return place(item.range[0]);
    }
  }
  return isNode(doc.contents) && doc.contents.range ? place(doc.contents.range[0]) : null;
}

/** Lists of numbers stand on one line. */
function nodeOf(doc: Document, value: unknown) {
  return doc.createNode(value, { flow: Array.isArray(value) });
}
export function writeYaml(request: Json): string {
  const flat = parseDocument(stringify(request, WIDTH), OPTIONS);
  const spec = request['spec'] as Json | undefined;
  for (const [k, v] of Object.entries(spec ?? {})) if (Array.isArray(v)) flat.setIn(['spec', k], nodeOf(flat, v));
  return flat.toString(WIDTH);
}
/** undefined takes the member away. The text must parse. */
export function changeYaml(text: string, path: Path, value: unknown): string {
  const doc = parseDocument(text, OPTIONS);
  if (value === undefined) {
    doc.deleteIn(path);
  } else {
    for (let n = 1; n < path.length; n++)
      if (!isMap(doc.getIn(path.slice(0, n), true))) doc.setIn(path.slice(0, n), doc.createNode({}));
    const now = doc.getIn(path, true);
    if (isScalar(now) && !Array.isArray(value)) now.value = value;
    else doc.setIn(path, nodeOf(doc, value));
  }
  return doc.toString(WIDTH);
}
