// SPDX-License-Identifier: Apache-2.0
// rested.ts - what somebody types, once the typing rests: so that the API is not asked for every letter.
import { useEffect, useState } from 'react';

export function useRested(text: string, restMs = 250): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs);
    return () => clearTimeout(timer);
  }, [text, restMs]);
  return rested;
}
