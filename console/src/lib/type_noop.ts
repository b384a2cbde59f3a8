// SPDX-License-Identifier: Apache-2.0
// type_noop.ts - a test run to begin from.
import type { Template } from './templates.ts';

export const NOOP_TEMPLATES: readonly Template[] = [
  { key: 'submit.drill', request: { name: 'drill', kind: 'noop', spec: { sleep_ms: 1000 } } },
];
