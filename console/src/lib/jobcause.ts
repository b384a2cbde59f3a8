// SPDX-License-Identifier: Apache-2.0
// jobcause.ts - the sentences that the platform writes of a job's end, by name, so that each is said in the reader's language.
// A worker sends words and no codes: each row is the sentence as the C source has it, and a test finds it there.
export const CAUSES = {
  failed: 'The program failed',
  cancelled: 'Cancelled while it ran',
  cancelled_early: 'Cancelled before its machine took it',
  runtime: 'It ran longer than max_runtime_seconds',
  runtime_far: 'It ran far beyond its time',
  memory: 'It needed more memory than its share',
  returned: 'The machine gave it back',
  preempted: 'It made room for another job',
  lost: 'Its machine was not heard of any more',
  boot: 'The agent of its machine started anew',
  quarantined: 'Its machine was put in quarantine',
  lease: 'Its lease ran out without a heartbeat',
  deadline: 'It had not started by its deadline',
  budget: 'Its budget has reached the threshold that stops',
  held: 'Held back by a person until it is released',
  tenant: 'Its tenant was stopped',
  outputs: 'An output that it names was not uploaded whole by this attempt',
  quota: "The tenant's quota of stored data has no room for the outputs",
  fewRows: '%zu row(s) are too few to keep some for validation',
  noRows: 'the split leaves no row to train on',
  one_class: 'the label column has only the class 0; two classes are needed',
  image: "the spec's image of %lld x %lld x %lld has %lld numbers; the data set has %zu columns beside the label",
  fewTokens: '%llu tokens make %zu sequence(s) of %zu; two are needed, one to train on and one held out',
  loss_rounds: 'the loss is no longer a number after %lld rounds; try a smaller learning_rate',
  fit_model: 'the model does not fit in the memory of this job',
  fit_state: 'the training state does not fit in the memory of this job',
  fit_shard: 'a shard of %zu bytes does not fit in the memory of this job',
  fit_split: 'the split of %zu rows does not fit in the memory of this job',
  fit_columns: '%zu columns do not fit in the memory of this job',
  changed: 'the content is not what was stored',
  notCheckpoint: 'the file is no checkpoint',
} as const;

const PLACE = /%(?:[zl]{0,2}[dug]|\.\*s|s)/;
const shape = (said: string): RegExp =>
  new RegExp(
    `^${said
      .split(PLACE)
      .map((s) => s.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('(-?[0-9.]+)')}$`,
  );
let shapes: [keyof typeof CAUSES, RegExp][] | undefined;

/** The name of what a message says, with its numbers as v1, v2 and so on; null: words that only its program knows. */
export function causeOf(message: string): { name: keyof typeof CAUSES; values: Record<string, string> } | null {
  shapes ??= Object.entries(CAUSES).map(([name, said]) => [name as keyof typeof CAUSES, shape(said)]);
  for (const [name, re] of shapes) {
    const found = re.exec(message);
    if (found) return { name, values: Object.fromEntries(found.slice(1).map((v, i) => [`v${i + 1}`, v])) };
  }
  return null;
}
