// SPDX-License-Identifier: Apache-2.0
// oneof.ts - a text from an address or an answer as one of the names that the API knows, if it is one.
export const oneOf = <const L extends readonly string[]>(list: L, text: string | undefined): L[number] | undefined =>
  list.find((name) => name === text);
