import type { Locator, Page } from 'playwright-core';
import { gate } from '../support/barrier.js';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { openConsole, shortcomingsInEveryLook, styleOf } from '../support/console.js';
import { Service } from '../support/service.js';
import { createProject, type Member, password, register } from '../support/workspace.js';

/** Tells the page that the network is back. */
const wake = (page: Page) => page.evaluate("dispatchEvent(new Event('online'))");

describeInBrowser('the frame of the console', () => {
  let service: Service;
  let visitor: Visitor;
  let ada: Member;
  beforeAll(async () => {
    service = await Service.start({});
    visitor = await Visitor.start(service.url);
    ada = await register(service, 'Ada');
  });
  afterEach(() => visitor.closePages());
  afterAll(async () => {
    await visitor?.stop();
    await service?.stop();
  });

  it('asks to sign in first, then shows the requested page', async () => {
    const page = await visitor.open('/#/?from=mail');
    await page.getByLabel('E-mail').first().fill('ada@example.com');
    await page.getByLabel('Password').first().fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${service.url}/#/?from=mail`);
    expect(visitor.complaints).toEqual([]);
  });

  it('signs in again over the open page when the session has ended, and continues the call that waits', async () => {
    const page = await openConsole(visitor, ada.token, '/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await createProject(service, ada.token);
    await service.post('/v1/auth/logout', ada.token);
    await page.goto(`${service.url}/#/projects`);
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await page.keyboard.press('Control+k'); // Opens nothing over the dialog.
    await dialog.getByLabel('Password').fill('a wrong password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape'); // A browser closes a dialog at the second press.
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Capitals', exact: true }).waitFor();
  });

  it('leads to the sign-in if the session of a new page has ended', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    await service.post('/v1/auth/logout', body.token);
    const page = await openConsole(visitor, body.token, '/jobs');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  });

  it('opens a link in a new tab with the same session, and signs out in both tabs', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const first = await openConsole(visitor, body.token, '/projects');
    await first.getByRole('heading', { name: 'Projects' }).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${service.url}/#/projects/%zz`); // Text that cannot be decoded counts as an unknown id.
    await second.getByText('There is no such').waitFor();
    await first.getByRole('button', { name: /^Sign out/ }).click();
    await Promise.all([first, second].map((page) => page.waitForURL(/\/auth/)));
    await second.close();
  });

  it('tells once that the service is away or limits the calls, waits, and then continues by itself', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/');
    await page.getByText('Newest jobs').or(page.getByText('Four steps')).first().waitFor();
    const away = page.getByText('The service could not be reached.');
    await page.route('**/v1/**', (route) => route.abort());
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))"); // All live data is loaded again.
    await away.waitFor();
    const failed = page.waitForEvent('requestfailed');
    await page.getByRole('button', { name: 'Try now' }).click();
    await failed;
    await page.getByText(/^Next try at \d\d:\d\d:\d\d\.$/).waitFor();
    expect([await away.count(), await page.getByRole('alert').count()]).toEqual([1, 0]);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.unroute('**/v1/**');
    await wake(page);
    await away.waitFor({ state: 'detached' });

    const sent: string[] = [];
    await page.route('**/v1/projects*', (route) => {
      sent.push(route.request().url());
      const refusal = { status: 'error', code: 'rate_limited', error: 'Too many calls.', request_id: 'req_1' };
      const headers = { 'Retry-After': '1' };
      return sent.length > 1 ? route.continue() : route.fulfill({ status: 429, headers, json: refusal });
    });
    await page.goto(`${service.url}/#/projects`);
    await page.getByText('Too many calls.').waitFor();
    for (let times = 1; times <= 2; times++) await wake(page); // This must not send a call early.
    expect(await page.getByRole('button', { name: 'Try now' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Capitals', exact: true }).waitFor();
    expect(sent).toHaveLength(2);
  });

  it('tells during an outage why an act failed, and offers the next try in a dialog, too', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/projects');
    await page.getByRole('link', { name: 'Capitals', exact: true }).click();
    const review = page.getByRole('button', { name: 'Review version 1' });
    await review.waitFor();
    const announced = page.getByRole('main').locator('.outage-none [role=status]'); // Exists before it has text.
    expect(await announced.count()).toBe(1);
    await page.route('**/v1/**', (route) => route.abort());
    await review.click();
    await page.getByRole('alert').getByText('The service could not be reached.').waitFor();
    await review.waitFor(); // The button is not busy any more, although its page still waits.
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog');
    await palette.getByText(/^The service could not be reached. What you see stays/).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    const failed = page.waitForEvent('requestfailed');
    await palette.getByRole('button', { name: 'Try now' }).click();
    await failed;
    await palette.getByText(/^Next try at \d\d:\d\d:\d\d\.$/).waitFor();
    await page.unroute('**/v1/**');
    await wake(page);
    await page.locator('.outage').first().waitFor({ state: 'detached' });
  });

  it('leads from a missing object to the list of its kind, and offers no second try', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/projects/prj_1/models');
    await page.getByRole('link', { name: 'All projects' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.evaluate("location.hash = '/evaluations/job_1/compare'");
    await page.getByRole('link', { name: 'All evaluations' }).first().click();
    await page.getByRole('heading', { name: 'Evaluations' }).waitFor();
  });

  it('draws bars at the place of a list while it is loaded, without motion if the user wants none', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/projects');
    await page.getByRole('link', { name: 'Capitals', exact: true }).waitFor();
    const arrives = gate();
    await page.route('**/v1/projects*', async (route) => {
      await arrives.opened;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    const bars = page.locator('.loading-bar');
    await bars.first().waitFor();
    const height = () => styleOf(page.locator('.loading'), 'height');
    const before = await height();
    await page.getByRole('status').getByText('Loading the projects …').waitFor({ state: 'attached' });
    expect([await bars.count(), await height()]).toEqual([4, before]);
    const motion = () => styleOf(bars.first(), 'animationName');
    expect(await motion()).toMatch('loading');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await motion()).toBe('none');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.emulateMedia({ reducedMotion: null });
    arrives.open();
    await page.getByRole('link', { name: 'Capitals', exact: true }).waitFor();
    expect(await bars.count()).toBe(0);
  });

  it('focuses no input by itself on a touch screen, where that would open the keyboard', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/projects');
    const focused = () => page.evaluate('document.activeElement.tagName');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await focused()).toBe('INPUT');
    await page.keyboard.press('Escape');
    const screen = await page.context().newCDPSession(page);
    await screen.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await focused()).toBe('DIALOG');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k'); // This tablet has a keyboard.
    await page.getByRole('combobox').waitFor();
    expect(await focused()).toBe('INPUT');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Projects' }).click();
    const { body: list } = await service.get('/v1/projects', body.token);
    await page.goto(`${service.url}/#/playground?project=${list.projects[0].id}`);
    await page.getByLabel('Your question').waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await focused()).not.toBe('TEXTAREA');
    await screen.detach();
  });

  it('shows names and texts in the direction of their script, and no slash at the end of the path', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const spec = { goal: 'שאלות על ערים' };
    const { body: project } = await service.post('/v1/projects', body.token, { name: 'בירות', spec });
    const page = await openConsole(visitor, body.token, '/projects');
    const direction = (place: Locator) => styleOf(place, 'direction');
    expect(await direction(page.getByRole('link', { name: 'בירות' }))).toBe('rtl');
    expect(await direction(page.getByRole('link', { name: 'Capitals', exact: true }))).toBe('ltr');
    await page.goto(`${service.url}/#/projects/${project.id}`);
    expect(await direction(page.getByRole('heading', { name: 'בירות' }))).toBe('rtl');
    expect(await direction(page.getByLabel('Goal'))).toBe('rtl');
    const path = page.getByRole('navigation', { name: 'Path' }).getByRole('link');
    expect(await path.allTextContents()).toEqual(['Projects']);
    for (const part of ['::before', '::after'] as const) expect(await styleOf(path, 'content', part)).toBe('none');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('can be used with the keyboard: Ctrl+K finds a page, ? lists the shortcuts, Escape closes them', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nothing of this name');
    await page.getByText('Nothing has this name.').waitFor();
    await page.getByRole('combobox').fill('over');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  });
});
