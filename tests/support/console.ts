import type { Locator, Page } from 'playwright-core';
import type { Visitor } from './browser.js';
import { query } from './database.js';
import { shortcomings } from './page-checks.js';
import { until } from './until.js';

/** Closes the pages after each test, and expects no complaints. Stops the visitor and `others` after the last test. */
export function cleanUp(visitor: () => Visitor, ...others: (() => Promise<unknown> | undefined)[]): void {
  afterEach(async () => {
    await visitor().closePages();
    expect(visitor().complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await visitor()?.stop();
    for (const stop of others) await stop();
  });
}

export const WIDTHS = [390, 1280] as const;
const SCHEMES = ['light', 'dark'] as const;

/** Opens a place of the console, such as `/jobs?status=failed`, with a session. */
export const openConsole = (visitor: Visitor, session: string, place: string, width = 1280): Promise<Page> =>
  visitor.open(`/#${place}`, { width, session });

/** Waits until the console is at `place`, and returns the address. Asks the page, because `page.url()` may be old. */
export async function at(page: Page, place: string | RegExp): Promise<string> {
  let now = '';
  await until(
    () => `the console is at ${place}, but it is at ${now}`,
    async () => {
      now = await page.evaluate<string>('location.hash.slice(1)');
      return typeof place === 'string' ? now === place : place.test(now);
    },
  );
  return now;
}

/** Goes one step back in the history. Call `at` first, because a click returns before its own navigation ends. */
export const goBack = (page: Page): Promise<unknown> => page.evaluate('history.back()');

/** Returns where the open page breaks WCAG or scrolls sideways, at both widths, in light and dark. */
export async function shortcomingsInEveryLook(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 740 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      found.push(
        ...(await shortcomings(page, { coloursOnly: colorScheme === 'dark' })).map(
          (one) => `${width} ${colorScheme}: ${one}`,
        ),
      );
    }
  }
  return found;
}

/** Returns a property of the style that the browser has computed for an element, or for one of its pseudo-elements. */
export const styleOf = (place: Locator, property: string, pseudo?: '::before' | '::after'): Promise<string> =>
  place.evaluate((one, of) => one.ownerDocument.defaultView.getComputedStyle(one, of.pseudo)[of.property], {
    property,
    pseudo,
  });

/** Adds `count` succeeded predictions of the account, one for each second, older than a day. */
export const addOldJobs = (databaseUrl: string, accountId: string, count: number): Promise<unknown> =>
  query(
    databaseUrl,
    `
    INSERT INTO jobs (id, team_id, kind, mode, status, requested_by, created_at, started_at, finished_at, progress, process,
                      finish_number)
    SELECT 'job_' || gen_random_uuid(), team_id, 'prediction', 'sync', 'succeeded', $1, old, old, old,
           '{"done":1,"total":1}', 1, nextval('job_finish_numbers')
      FROM (SELECT now() - interval '1 day' - number * interval '1 second' AS old,
                   (SELECT team_id FROM accounts WHERE id = $1) AS team_id FROM generate_series(1, $2) AS number) AS numbers`,
    [accountId, count],
  );
