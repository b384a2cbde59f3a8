// SPDX-License-Identifier: Apache-2.0
// types.ts - what a page says of its list.
import type { ReactNode } from 'react';
import type { Query } from '../../api/client.ts';
import type { ItemOf } from '../../api/paths.ts';

export interface Column<T> {
  name: keyof T & string;
  label: string;
  cell?: (row: T) => ReactNode;
  narrow?: boolean;
  /** Not shown until somebody chooses it. */
  extra?: boolean;
  /** The API's values of `sort` for this column: upwards, downwards, or both. */
  sort?: { asc?: string; desc?: string };
}
export interface Filter {
  name: string;
  label: string;
  options?: readonly { value: string; label: string }[];
  /** A range of time, relative or from and to; sent as `from` and `to`, or as the names given. */
  kind?: 'time';
  from?: string;
  to?: string;
  /** Of a text: the API takes no shorter one. */
  min?: number;
  /** Stands behind "More filters" until it is used. */
  more?: boolean;
}
export interface Bulk<T> {
  label: string;
  /** reason: of an act that asks for one. */
  run: (row: T, reason: string) => Promise<unknown>;
  /** What it does, in words: asked before. */
  confirm?: string;
  danger?: boolean;
  /** The API wants to know why, once for all of them; such an act has a confirm. */
  reason?: boolean;
  /** Rows for which it makes no sense are left out, and that is said. */
  fits?: (row: T) => boolean;
}
/** Its rows are of the type that the address says. */
export interface TableProps<A extends string, T = ItemOf<A>> {
  path: A;
  label: string;
  columns: Column<T>[];
  filters?: Filter[];
  rowKey: (row: T) => string;
  /** For people; the name of the row, or its key. */
  rowName?: (row: T) => string;
  rowActions?: (row: T) => ReactNode;
  bulk?: Bulk<T>[];
  empty: ReactNode;
  fixed?: Query;
  /** How a page's successor is named where it is not page_token: by the number of its last row. */
  after?: (row: T) => string;
  everyMs?: number;
  /** Topics of the tab's stream that feed this list; new rows then wait behind a bar. */
  live?: string[];
  /** The server's own export, with the same filters. */
  csv?: string;
  /** A list that the API gives whole. */
  noPages?: boolean;
  /** Of a page's second list: stands before its names in the address. */
  prefix?: string;
  /** Stands between the filters and the rows. */
  chips?: ReactNode;
}
