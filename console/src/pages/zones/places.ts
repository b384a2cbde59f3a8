// SPDX-License-Identifier: Apache-2.0
// places.ts - where zones are drawn: the schematic outline of the seven emirates and the cities that the codes of zones name.
//
// The outline is drawn by hand from rough degrees; it shows where things are in relation, not where a border runs.
type Degrees = readonly [lon: number, lat: number];

export const WIDTH = 500;
export const HEIGHT = 370;
const WEST = 51.35;
const NORTH = 26.2;
/** A degree of longitude is shorter than one of latitude there: cos 24.4°. */
const PER_LON = 92;
const PER_LAT = 101;
export const at = ([lon, lat]: Degrees): [x: number, y: number] => [
  Math.round((lon - WEST) * PER_LON),
  Math.round((NORTH - lat) * PER_LAT),
];

export interface Emirate {
  key: string;
  outline: readonly Degrees[];
  /** Where its name stands; with `from`, out at sea at the end of a line. */
  name: Degrees;
  from?: Degrees;
}
export const EMIRATES: readonly Emirate[] = [
  {
    key: 'place.abuDhabi',
    outline: [
      [51.58, 24.1],
      [52.2, 24.0],
      [52.75, 24.18],
      [53.4, 24.08],
      [54.0, 24.15],
      [54.4, 24.5],
      [54.75, 24.83],
      [55.15, 24.72],
      [55.35, 24.6],
      [55.75, 24.62],
      [55.8, 24.2],
      [55.5, 23.95],
      [55.52, 23.5],
      [55.2, 22.7],
      [55.0, 22.55],
      [52.0, 22.98],
    ],
    name: [53.75, 23.45],
  },
  {
    key: 'place.dubai',
    outline: [
      [54.75, 24.83],
      [55.05, 25.05],
      [55.33, 25.32],
      [55.5, 25.15],
      [55.62, 24.98],
      [55.58, 24.74],
      [55.35, 24.6],
      [55.15, 24.72],
    ],
    name: [54.45, 25.15],
    from: [55.0, 25.0],
  },
  {
    key: 'place.sharjah',
    outline: [
      [55.33, 25.32],
      [55.4, 25.4],
      [55.5, 25.34],
      [55.68, 25.4],
      [55.95, 25.3],
      [56.02, 25.05],
      [55.92, 24.8],
      [55.75, 24.62],
      [55.58, 24.74],
      [55.62, 24.98],
      [55.5, 25.15],
    ],
    name: [54.45, 25.4],
    from: [55.37, 25.36],
  },
  {
    key: 'place.ajman',
    outline: [
      [55.4, 25.4],
      [55.48, 25.49],
      [55.58, 25.44],
      [55.68, 25.4],
      [55.5, 25.34],
    ],
    name: [54.45, 25.62],
    from: [55.44, 25.45],
  },
  {
    key: 'place.ummAlQuwain',
    outline: [
      [55.48, 25.49],
      [55.6, 25.62],
      [55.75, 25.66],
      [55.88, 25.5],
      [55.95, 25.3],
      [55.68, 25.4],
      [55.58, 25.44],
    ],
    name: [54.45, 25.84],
    from: [55.56, 25.58],
  },
  {
    key: 'place.rasAlKhaimah',
    outline: [
      [55.75, 25.66],
      [55.92, 25.8],
      [56.06, 26.04],
      [56.18, 25.95],
      [56.14, 25.65],
      [56.05, 25.45],
      [55.95, 25.3],
      [55.88, 25.5],
    ],
    name: [54.45, 26.06],
    from: [55.95, 25.85],
  },
  {
    key: 'place.fujairah',
    outline: [
      [56.14, 25.65],
      [56.28, 25.64],
      [56.36, 25.35],
      [56.37, 25.0],
      [56.2, 24.96],
      [56.02, 25.05],
      [55.95, 25.3],
      [56.05, 25.45],
    ],
    name: [56.2, 24.55],
    from: [56.3, 25.0],
  },
];

/** The middle part of a zone's code: ae-dxb-1. */
const CITIES: Record<string, Degrees> = {
  auh: [54.3, 24.2],
  adgm: [54.55, 24.5],
  aan: [55.65, 24.2],
  rws: [52.75, 23.95],
  dxb: [55.22, 25.06],
  difc: [55.15, 24.82],
  shj: [55.75, 25.15],
  ajm: [55.55, 25.42],
  uaq: [55.7, 25.52],
  rkt: [55.98, 25.62],
  rak: [55.98, 25.62],
  fjr: [56.2, 25.3],
};
export function cityOf(code: string, country: string): Degrees | undefined {
  return country === 'AE' ? CITIES[/^ae-([a-z]+)/.exec(code)?.[1] ?? ''] : undefined;
}
