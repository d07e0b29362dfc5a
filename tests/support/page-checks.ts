import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Lists the rules about colours. A colour scheme changes nothing else on a page. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

interface Check {
  readonly least?: 'minor' | 'critical';
  /** Checks only the rules that another colour scheme could break. */
  readonly coloursOnly?: boolean;
}

/** Returns a line for each rule of WCAG 2.2 AA that the page breaks now, and one if it scrolls sideways. */
export async function shortcomings(page: Page, { least = 'minor', coloursOnly }: Check = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const runOnly = coloursOnly ? OF_COLOURS : ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
  return page.evaluate<string[]>(`(${inPage})(${JSON.stringify({ least, runOnly })})`);
}

/** Runs in the browser. */
const inPage = `async ({ least, runOnly }) => {
  const { violations } = await axe.run({
    runOnly,
    resultTypes: ['violations'],
    rules: runOnly.includes('wcag22aa') ? { 'target-size': { enabled: true } } : {}, // off in axe unless asked for
  });
  const found = violations
    .filter(({ impact }) => least === 'minor' || impact === least)
    .map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ target }) => target.join(' ')).join(', '));
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push('scrolls sideways: ' + scrollWidth + ' in ' + clientWidth);
  return found;
}`;
