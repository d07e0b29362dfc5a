import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { PATIENCE_MS, until } from './until.js';

/** Debian's two packages of Chromium. The first draws no windows and needs less processor time. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const;
export const EXECUTABLE = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path)) ?? PROGRAMS[0];

/** Returns why the pages cannot be tested here, or null. */
export function whyNoBrowser(): string | null {
  for (const program of [EXECUTABLE, 'curl']) {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore', timeout: PATIENCE_MS });
    } catch {
      return `there is no ${program} (Debian: apt-get install chromium-headless-shell curl; CHROMIUM names another browser)`;
    }
  }
  return null;
}

/** Calls `describe`. Without a browser, adds a test that names the omitted tests and the reason. */
export function describeInBrowser(name: string, tests: () => void): void {
  const why = whyNoBrowser();
  if (why === null) describe(name, tests);
  else {
    it(`LEFT OUT, ${why}: ${name}`, () => {
      console.warn(`${name}: left out, ${why}`);
    });
  }
}

/** Clicks a button that copies, and returns the copied text. */
export async function copiedBy(button: Locator): Promise<string> {
  const page = button.page();
  await page.evaluate("navigator.clipboard.writeText('')");
  await button.click();
  let text = '';
  await until('the clipboard has a text', async () => {
    text = await page.evaluate<string>('navigator.clipboard.readText()');
    return text !== '';
  });
  return text;
}

/** Runs headless Chromium, and collects the complaints of its pages. */
export class Visitor {
  private readonly opened: Page[] = [];
  /** Keeps closed pages for the next tests, because the browser starts a process for each new page. */
  private readonly closed: Page[] = [];
  /** Collects errors of the pages, violations of the content security policy, and calls to other hosts. */
  readonly complaints: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  static async start(url: string): Promise<Visitor> {
    return new Visitor(await chromium.launch({ executablePath: EXECUTABLE, timeout: 60_000 }), url);
  }

  /** Opens a page in its own window. Its storage is empty except for the `session` of the console. */
  async open(
    path: string,
    options: { width?: number; colorScheme?: 'light' | 'dark'; session?: string } = {},
  ): Promise<Page> {
    const { width = 1000, colorScheme = 'light', session } = options;
    const page = this.closed.pop() ?? (await this.newPage());
    this.opened.push(page);
    await page.setViewportSize({ width, height: 740 });
    await page.emulateMedia({ colorScheme });
    const remember = `sessionStorage.setItem('tenon.session', ${JSON.stringify(session)})`;
    const script = session === undefined ? null : await page.addInitScript(remember);
    await page.goto(this.url + path);
    await script?.dispose(); // Only the first document gets it.
    return page;
  }

  /** Closes the pages. After a failed test, prints what they show. */
  async closePages(): Promise<void> {
    const { testHasFailed } = globalThis as { testHasFailed?: boolean };
    for (const page of this.opened.splice(0)) {
      if (testHasFailed) console.warn(`${page.url()}\n${await page.locator('body').ariaSnapshot()}`);
      await page.unrouteAll();
      await page.context().clearCookies();
      // Only a page of the service's origin can clear the storage of that origin.
      if (!page.url().startsWith(`${this.url}/`)) await page.goto(`${this.url}/verify-email`);
      await page.evaluate('sessionStorage.clear(), localStorage.clear()');
      await page.goto('about:blank');
      this.closed.push(page);
    }
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }

  private async newPage(): Promise<Page> {
    const context = await this.browser.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: this.url });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // The browser reports each refusal of the API as an error. Some tests cause these on purpose.
      const ofTheApi = /^\/(openai\/)?v1\//.test(message.location().url.slice(this.url.length));
      if (message.type() === 'error' && !ofTheApi) this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      if (!/^(data|blob|about):/.test(request.url()) && !request.url().startsWith(`${this.url}/`)) {
        this.complaints.push(`call to ${request.url()}`);
      }
    });
    return page;
  }
}
