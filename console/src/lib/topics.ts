// SPDX-License-Identifier: Apache-2.0
// topics.ts - which topics one stream of a tab carries, worked out from what its pages want. Pure.
export const TOPICS_MAX = 16; // api/event_feed.h
const NEEDS: Record<string, string> = {
  jobs: 'job:read',
  job: 'job:read',
  nodes: 'node:read',
  approvals: 'approval:read',
  deployments: 'deployment:read',
};
export interface Want {
  topics: readonly string[];
  prefixes: readonly string[];
}

/** Sorted, each once, only what this person may watch; the first wishes win where there are more than the API takes. */
export function mergeTopics(
  wants: Iterable<Want>,
  can: (permission: string) => boolean,
  refused: ReadonlySet<string> = new Set(),
): string[] {
  const out = new Set<string>();
  for (const w of wants)
    for (const topic of w.topics) {
      const needs = NEEDS[topic.split(':', 1)[0]!];
      if (needs !== undefined && can(needs) && !refused.has(topic) && out.size < TOPICS_MAX) out.add(topic);
    }
  return [...out].sort();
}

/** One topic that the API refuses (an object that is gone) ends the whole stream: who was not in the last good one is suspected. */
export function suspects(tried: readonly string[], good: readonly string[]): string[] {
  const fresh = tried.filter((x) => !good.includes(x));
  return fresh.length < tried.length ? fresh : tried.filter((x) => x.includes(':'));
}

/** What has to be read again when a topic tells of a change. */
export function prefixesOf(wants: Iterable<Want>, topic: string): string[] {
  const out = new Set<string>();
  for (const w of wants) if (w.topics.includes(topic)) for (const p of w.prefixes) out.add(p);
  return [...out];
}
