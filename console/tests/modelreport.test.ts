// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { JOB_TYPES } from '../src/api/gen/jobtypes.ts';
import { MODEL_MAKERS } from '../src/lib/jobtypes.ts';
import { parentOf, reportOf } from '../src/lib/modelreport.ts';
import { optimiseRequest } from '../src/lib/type_optimise.ts';
import { judgeRequest } from '../src/lib/jobrequest.ts';

const ID = `mdl_${'0a'.repeat(16)}`;
const FIGURES = {
  accuracy_before: 0.95,
  accuracy_after: 0.945,
  agreement: 0.99,
  latency_us_before: 30,
  latency_us_after: 12,
  model_bytes_before: 4000,
  model_bytes: 1200,
  evaluation_rows: 270,
  parent: `${ID}@3`,
};

describe('the report of a version that was made smaller', () => {
  it('names the version it was made from, and each figure before and after', () => {
    const r = reportOf(FIGURES)!;
    expect(r.parent).toEqual({ id: ID, version: 3 });
    expect(r.rows).toEqual([
      { what: 'accuracy', before: 0.95, after: 0.945 },
      { what: 'latency', before: 30, after: 12 },
      { what: 'file', before: 4000, after: 1200 },
    ]);
    expect(r.told.has('model_bytes_before') && r.told.has('accuracy_drop')).toBe(true);
    expect([r.agreement, r.evaluated]).toEqual([0.99, 270]);
  });
  it('is not there for a version that was made of no other', () => {
    expect(reportOf({ holdout_accuracy: 0.9 })).toBeUndefined();
    expect(reportOf({ ...FIGURES, parent: 'the one before' })).toBeUndefined();
    expect(reportOf(undefined)).toBeUndefined();
  });
});

describe('what makes a model', () => {
  it('is every kind of job that says so, and each can be registered from', () => {
    expect(MODEL_MAKERS).toEqual(['train', 'convert', 'optimise'].filter((k) => k in JOB_TYPES));
  });
  it('knows the model that it makes another of', () => {
    expect(parentOf(optimiseRequest(ID, 2)['spec'])).toBe(ID);
    expect(parentOf({ dataset_id: 'dst_1' })).toBeUndefined();
    expect(parentOf(null)).toBeUndefined();
  });
  it('begins a request that lacks only its data set', () => {
    expect(judgeRequest(optimiseRequest(ID, 2)).map((f) => f.path.join('.'))).toEqual(['spec.dataset_id']);
  });
});
