// SPDX-License-Identifier: Apache-2.0
// Person.tsx - somebody by name where the name may be seen, by id otherwise.
import { Code, Name, shortId } from '../../ui/bits.tsx';
import type { Known } from './words.ts';

export function Person({ id, known }: { id: string | undefined; known: Known }) {
  if (!id) return null;
  const name = known.names.get(id);
  return name ? <Name>{name}</Name> : <Code>{shortId(id)}</Code>;
}
