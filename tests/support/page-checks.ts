import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Returns a line for each rule of WCAG 2.2 AA that the page breaks now, and one if it scrolls sideways. */
export async function shortcomings(page: Page, least: 'minor' | 'critical' = 'minor'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  return page.evaluate<string[]>(`(${inPage})(${JSON.stringify(least)})`);
}

/** Runs in the browser. */
const inPage = `async (least) => {
  const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] });
  const found = violations
    .filter(({ impact }) => least === 'minor' || impact === least)
    .map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ target }) => target.join(' ')).join(', '));
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push('scrolls sideways: ' + scrollWidth + ' in ' + clientWidth);
  return found;
}`;
