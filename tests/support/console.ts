import type { Page } from 'playwright-core';
import type { Visitor } from './browser.js';
import { shortcomings } from './page-checks.js';

export const WIDTHS = [390, 1280] as const;
const SCHEMES = ['light', 'dark'] as const;

/** Opens a place of the console, such as `/jobs?status=failed`, with the session of `token`. */
export async function openConsole(visitor: Visitor, token: string, place: string, width = 1280): Promise<Page> {
  const page = await visitor.open('/verify-email', { width });
  await page.evaluate(`sessionStorage.setItem('tenon.session', ${JSON.stringify(token)})`);
  await page.goto(page.url().replace('verify-email', `#${place}`));
  return page;
}

/** Returns what is wrong with the open page at both widths, in light and dark: rules of WCAG that it breaks, sideways scrolling. */
export async function shortcomingsInEveryLook(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 740 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await shortcomings(page)).map((one) => `${width} ${colorScheme}: ${one}`));
    }
  }
  return found;
}
