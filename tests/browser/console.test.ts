import { describeInBrowser, Visitor } from '../support/browser.js';
import { openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { Service } from '../support/service.js';
import { createProject, type Member, password, register } from '../support/workspace.js';

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

  it('asks to sign in first, and then shows the place that was asked for', async () => {
    const page = await visitor.open('/#/?from=mail');
    await page.getByLabel('E-mail').first().fill('ada@example.com');
    await page.getByLabel('Password').first().fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${service.url}/#/?from=mail`);
    expect(visitor.complaints).toEqual([]);
  });

  it('signs in again over the open page when the session has ended, and goes on with the call that waits', async () => {
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
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape'); // A browser closes a dialog at the second one.
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Capitals', exact: true }).waitFor();
  });

  it('opens a link in a new tab with the same session, and signs out in both', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const first = await openConsole(visitor, body.token, '/projects');
    await first.getByRole('heading', { name: 'Projects' }).waitFor();
    const second = await first.context().newPage();
    await second.goto(`${service.url}/#/projects/%zz`); // No valid encoding: an unknown id.
    await second.getByText('There is no such').waitFor();
    await first.getByRole('button', { name: /^Sign out/ }).click();
    await Promise.all([first, second].map((page) => page.waitForURL(/\/auth/)));
    await second.close();
  });

  it('is reached by keyboard: Ctrl+K finds a page, ? lists the shortcuts, Escape closes', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, body.token, '/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('over');
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
