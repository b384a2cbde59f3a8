// SPDX-License-Identifier: Apache-2.0
// afterpaint.ts - what is dear, done when the click that asked for it has been answered on the screen.
import type { RouterHistory } from '@tanstack/react-router';

/** A window that is not shown paints nothing: then it is done soon all the same. */
const SOON_MS = 100;

/** Once, after the next painting; what it gives takes it back. */
export function afterPaint(act: () => void): () => void {
  let done = false;
  const once = (): void => {
    if (done) return;
    done = true;
    act();
  };
  const soon = setTimeout(once, SOON_MS);
  const frame = requestAnimationFrame(() => setTimeout(once));
  return () => {
    done = true;
    clearTimeout(soon);
    cancelAnimationFrame(frame);
  };
}

type Later = typeof afterPaint;
const pathOf = (href: string): string => href.split(/[?#]/)[0]!;

/**
 * Another page is drawn after the click on its link has been painted: drawing it within the click held the answer up by up to
 * 80 ms of work, four times that on a slow machine. What changes the same page's address (a filter that is typed) goes on at
 * once: its fields show what the address says. Of two clicks within one frame the second counts.
 */
export function paintFirst(history: RouterHistory, later: Later = afterPaint): RouterHistory {
  const push = history.push;
  let undo = (): void => undefined;
  history.push = (path, ...rest) => {
    undo();
    if (pathOf(path) === history.location.pathname) push(path, ...rest);
    else undo = later(() => push(path, ...rest));
  };
  return history;
}
