// SPDX-License-Identifier: Apache-2.0
// paths.ts - from an address to what the API's document says of it. Types only.
//
// An address is written as it is sent, `/v1/jobs/${id}/events`; its type keeps the words and the places of the captures, and
// that is enough to find the one path of the document it was made from. What the document does not know is no address: it does
// not compile.
import type { paths } from './gen/schema.ts';

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

/** '/v1/jobs/{job_id}' as `/v1/jobs/${string}`, and with numbers for its captures. */
type Filled<P extends string, C extends string | number> = P extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${C}${Filled<After, C>}`
  : P;
type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, { responses: unknown }> ? P : never;
}[keyof paths];
/**
 * An address is of a path when it is one of its fillings, and a filling with numbers (which holds no slash) is one of the
 * address's.
 */
type PathOf<M extends Method, A extends string> = A extends string
  ? {
      [P in PathsOf<M>]: A extends Filled<P, string> ? (Filled<P, number> extends A ? P : never) : never;
    }[PathsOf<M>]
  : never;
type Call<M extends Method, A extends string> =
  PathOf<M, A> extends infer P extends keyof paths ? paths[P][Lowercase<M> & keyof paths[P]] : never;

/** What stands after the address of a reading. Nothing fits where the document knows no such address. */
export type Asked<A extends string, More extends unknown[] = []> = [PathOf<'GET', A>] extends [never]
  ? [unknownAddress: never]
  : [query?: QueryOf<'GET', A>, ...more: Partial<More>];

type Json<R> = R extends { content: { 'application/json': infer J } } ? J : undefined;
type Good = 200 | 201 | 202 | 204;
export type Answer<M extends Method, A extends string> =
  Call<M, A> extends { responses: infer R } ? Json<R[Good & keyof R]> : never;

declare const fromAddress: unique symbol;
/** Filters as they stand in the address of a page, written by anybody: the API judges them. */
export type FromAddress = Record<string, string | number | undefined> & { readonly [fromAddress]: true };
export type QueryOf<M extends Method, A extends string> =
  | (Call<M, A> extends { parameters: { query?: infer Q } }
      ? [Q] extends [undefined]
        ? Record<string, never>
        : { [K in keyof Q]: Q[K] | undefined }
      : never)
  | FromAddress;

declare const written: unique symbol;
/** A request that a person wrote out as text: the API judges it. */
export type Written = Record<string, unknown> & { readonly [written]: true };

/** One row of a list. */
export type ItemOf<A extends string> = Answer<'GET', A> extends { data: (infer T)[] } ? T & object : never;

export type BodyOf<M extends Method, A extends string> =
  Call<M, A> extends { requestBody: { content: infer C } }
    ? C extends { 'application/json': infer J }
      ? J | Written
      : Blob
    : undefined;
type WantsVersion<M extends Method, A extends string> =
  Call<M, A> extends { parameters: { header: { 'If-Match': string } } } ? true : false;
interface Keyed {
  /** Of a call that is repeated by hand; otherwise each has its own. */
  'idempotency-key'?: string;
}
/** What stands after the address of a change: its body, and the version that was read where the call wants one. */
export type Sent<M extends Method, A extends string> = [PathOf<M, A>] extends [never]
  ? [unknownAddress: never, never, never]
  : WantsVersion<M, A> extends true
    ? [body: BodyOf<M, A>, headers: { 'if-match': string }]
    : BodyOf<M, A> extends undefined
      ? [body?: undefined, headers?: Keyed]
      : Record<never, never> extends BodyOf<M, A>
        ? [body?: BodyOf<M, A>, headers?: Keyed]
        : [body: BodyOf<M, A>, headers?: Keyed];
