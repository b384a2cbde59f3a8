// SPDX-License-Identifier: Apache-2.0
// lawrows.ts - the rows of a law while they are edited: what a template adds, what goes with a law, what all rows allow.
//
// What a template says is the API's (GET /v1/residency/templates); what the rows allow is asked of the table of flows' function.
import type { Schemas } from '../../api/client.ts';
import { ZONE_LAW_DATA_CLASSES as CLASSES } from '../../api/gen/enums.ts';
import type { Law } from './data.ts';
import { flowOf, type Flow } from './flows.ts';

export type Rule = Schemas['zone_rule'];
export type Clock = Schemas['zone_clock'];
export type Template = Schemas['law_template'];
export interface Rows {
  regimes: string[];
  classes: string[];
  rules: Rule[];
  clocks: Clock[];
}

/** With all that a template says; a law that is there already stays as it was edited. */
export function withTemplate(rows: Rows, of: Template): Rows {
  const regime = of.template_id;
  if (rows.regimes.includes(regime)) return rows;
  const from = (r: { source_text: string; valid_from: string }) => ({
    regime,
    source_text: r.source_text,
    valid_from: r.valid_from,
  });
  return {
    regimes: [...rows.regimes, regime],
    classes: CLASSES.filter((c) => rows.classes.includes(c) || of.data_classes.includes(c)),
    rules: [
      ...rows.rules,
      ...of.rules.map((r) => ({
        ...from(r),
        data_class: r.data_class,
        may_leave: r.may_leave,
        countries: [...r.countries],
      })),
    ],
    clocks: [
      ...rows.clocks,
      ...of.clocks.map((c) => ({ ...from(c), name: c.name, ...(c.hours === undefined ? {} : { hours: c.hours }) })),
    ],
  };
}
/** Without a law and its rows; what classes may be there is left to the reader. */
export const withoutRegime = (rows: Rows, regime: string): Rows => ({
  ...rows,
  regimes: rows.regimes.filter((r) => r !== regime),
  rules: rows.rules.filter((r) => r.regime !== regime),
  clocks: rows.clocks.filter((c) => c.regime !== regime),
});

/** Classes by what becomes of them in a zone whose country is outside of all that the rows name. */
export function allowed(rows: Pick<Rows, 'classes' | 'rules'>, now = Date.now()): Record<Flow, string[]> {
  const groups: Record<Flow, string[]> = { own: [], barred: [], free: [], basis: [], exception: [] };
  const from = { zone: 'here', country: 'inside', rules: rows.rules } as unknown as Law;
  for (const c of CLASSES) {
    const to = { zone: 'there', country: 'outside', data_classes: [c] } as unknown as Law;
    groups[rows.classes.includes(c) ? flowOf(from, to, c, [], now).flow : 'barred'].push(c);
  }
  return groups;
}
