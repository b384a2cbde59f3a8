// SPDX-License-Identifier: Apache-2.0
// terminalstyle.ts - how the terminal's library gets its styles (terminalstyles.ts of the build puts these in its place). It
// would write rules into <style> elements and colours into style attributes, which the console's policy (style-src 'self')
// refuses; the same rules in a constructed sheet, and the same colours by the element's own style, are the script's and allowed.

/** An element that draws nothing and whose text is the text of a sheet of the page, until it is removed. */
export function sheetHolder(): HTMLElement {
  const holder = document.createElement('span');
  const sheet = new CSSStyleSheet();
  holder.hidden = true;
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(holder, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  const remove = holder.remove.bind(holder);
  holder.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
    remove();
  };
  return holder;
}
export const setStyle = (of: HTMLElement, text: string): void => void (of.style.cssText = text);
