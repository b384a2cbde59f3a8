// SPDX-License-Identifier: Apache-2.0
// draft.ts - the request while it is written. The YAML text is the one source: the form reads from it and changes it in place, so that
// comments and order stay. While the text does not parse, the form shows what it said last and waits.
import { useCallback, useMemo, useRef, useState } from 'react';
import type { FieldFault } from '../../api/problem.ts';
import {
  judgeRequest,
  pathOf,
  readField,
  sameValue,
  showField,
  valueAt,
  type Fault,
  type JobField,
  type Json,
} from '../../lib/jobrequest.ts';
import { changeYaml, readYaml, writeYaml, type Place, type YamlFault } from '../../lib/yamltext.ts';

export interface PlacedFault extends Fault {
  place: Place | null;
}
export interface Draft {
  text: string;
  request: Json;
  /** The text does not parse: what stands in the form is older than it. */
  syntax: YamlFault[];
  faults: PlacedFault[];
  type: (text: string) => void;
  put: (f: JobField, text: string) => void;
  shown: (f: JobField) => string;
  begin: (request: Json) => void;
  /** The text before the last beginning, or before the form's values replaced what did not parse. */
  undo: (() => void) | null;
  rewrite: () => void;
  refuse: (faults: FieldFault[]) => void;
}

/** kept: the text of an earlier visit, gone on with. */
export function useDraft(first: Json, kept?: string): Draft {
  const [text, setText] = useState(() => kept ?? writeYaml(first));
  const [before, setBefore] = useState<string | null>(null);
  const [raw, setRaw] = useState<Record<string, string>>({});
  const [refused, setRefused] = useState<{ at: Json; faults: FieldFault[] } | null>(null);
  const read = useMemo(() => readYaml(text), [text]);
  const good = useRef(first);
  const isMap = typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value);
  if (read.faults.length === 0 && isMap) good.current = read.value!;
  const request = good.current;

  const faults = useMemo((): PlacedFault[] => {
    if (read.faults.length > 0) return [];
    const own: Fault[] = judgeRequest(read.value);
    // What the API said holds until that member says something else.
    for (const f of refused?.faults ?? [])
      if (sameValue(valueAt(refused!.at, f.path), valueAt((read.value ?? {}) as Json, f.path)))
        own.push({ path: pathOf(f.path), key: `problem.${f.code}`, words: f.detail });
    return own.map((f) => ({ ...f, place: read.placeOf(f.path) }));
  }, [read, refused]);

  const type = useCallback((next: string) => {
    setText(next);
    setRaw({});
  }, []);
  const replace = (next: string): void => {
    setBefore(text);
    setText(next);
    setRaw({});
  };
  return {
    text,
    request,
    syntax: read.faults,
    faults,
    type,
    put: (f, value) => {
      setRaw((r) => ({ ...r, [f.path]: value }));
      setText(changeYaml(text, pathOf(f.path), readField(f, value)));
    },
    shown: (f) => {
      const typed = raw[f.path];
      const value = valueAt(request, f.path);
      return typed !== undefined && sameValue(readField(f, typed), value) ? typed : showField(value);
    },
    begin: (next) => {
      setRefused(null);
      replace(writeYaml(next));
    },
    rewrite: () => replace(writeYaml(request)),
    undo:
      before === null
        ? null
        : () => {
            setText(before);
            setRaw({});
            setBefore(null);
          },
    refuse: (list) => setRefused({ at: request, faults: list }),
  };
}
