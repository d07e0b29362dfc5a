import { pages } from './pages.js';
import type { Page, View } from './shared/page.js';
import { match } from './shared/place.js';

/** The first page has the connection for itself for this time. */
const AHEAD_MS = 3000;

interface FoundPage {
  readonly page: Page;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns the first page that fits the path, with its parameters. */
export function pageAt(path: string): FoundPage | undefined {
  for (const page of pages) {
    const parameters = match(page.path, path);
    if (parameters) return { page, parameters };
  }
  return undefined;
}

const views = new Map<Page, View>();

/** Returns the view of a page, or undefined while its code is not loaded. */
export const viewOf = (page: Page): View | undefined => views.get(page);

export async function loadPage(page: Page): Promise<void> {
  views.set(page, await page.load());
}

let others: Promise<void> | undefined;

/** Loads the code of all pages, one after another, so that they open at once, also during an outage. */
export function loadOthers(): Promise<void> {
  others ??= (async () => {
    await new Promise((resolve) => setTimeout(resolve, AHEAD_MS));
    for (const page of pages) if (!views.has(page)) await loadPage(page).catch(() => {});
  })();
  return others;
}
