// SPDX-License-Identifier: Apache-2.0
// overlay.ts - where what opens over a page is put into the document: inside the landmark that it belongs to.
export const inHead = (): HTMLElement => document.querySelector<HTMLElement>('.pf-v6-c-masthead') ?? document.body;
export const inMain = (): HTMLElement => document.querySelector<HTMLElement>('main') ?? document.body;
