// SPDX-License-Identifier: Apache-2.0
// kept.ts - the request that is being written stays in this tab when its page is left, and whoever closes the tab is asked.
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { readDraft, writeDraft, type Kept } from '../../lib/kept-draft.ts';
import { useSession } from '../../shell/session.tsx';

export interface Keeper {
  /** What an earlier visit left; null: nothing, or it is no longer wanted. */
  first: Kept | null;
  keep: (text: string | null) => void;
  drop: () => void;
}
export function useKept(place: string): Keeper {
  const { me } = useSession();
  const person = me.user_id ?? 'nobody';
  const [first, setFirst] = useState(() => readDraft(sessionStorage, person, place));
  const keep = (text: string | null): void => writeDraft(sessionStorage, person, place, text);
  return {
    first,
    keep,
    drop: () => {
      keep(null);
      setFirst(null);
    },
  };
}
export function useKeeping(kept: Keeper, text: string, changed: boolean): void {
  const last = useRef(text);
  useEffect(() => {
    if (last.current === text) return;
    last.current = text;
    kept.keep(changed ? text : null);
  }, [text, changed, kept]);
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: () => changed });
}
