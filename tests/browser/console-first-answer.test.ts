import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { Service } from '../support/service.js';
import { moveToOwnTeam, password, register } from '../support/workspace.js';

const MOST_CLICKS = 2;
const LONGEST_MS = 60_000;
const QUESTION = 'What is the capital of France?';

const answered = (page: Page) =>
  page.getByRole('article', { name: 'Answer' }).getByText('The capital of France is Paris.').waitFor();

describeInBrowser('the way to a first answer', () => {
  let service: Service | undefined;
  let visitor: Visitor | undefined;
  afterAll(async () => {
    await visitor?.stop();
    await service?.stop();
  });

  it('takes two clicks after the sign-up and under a minute from an empty data folder to a streamed answer', async () => {
    const started = performance.now();
    service = await Service.start({ databaseUrl: null, alone: 'an empty data folder has its own database' });
    visitor = await Visitor.start(service.url);
    const page = await visitor.open('/verify-email', { width: 1280 });
    let clicks = 0;
    await page.exposeFunction('countClick', () => clicks++);
    await page.addInitScript('addEventListener("click", () => countClick(), true)'); // Enter in a form counts, too.
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

    await page.goto(service.url);
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Password').fill(password);
    await press('Sign up');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    clicks = 0;
    await press('Set up an example');
    await page.getByLabel('Your question').and(page.locator(':focus')).waitFor();
    expect(await page.getByLabel('Your question').inputValue()).toBe(QUESTION);
    const streamed = page.waitForResponse(/\/openai\/v1\/chat\/completions$/);
    await press('Send');
    await answered(page);

    expect((await streamed).headers()['content-type']).toMatch(/^text\/event-stream/);
    expect(clicks).toBeGreaterThanOrEqual(1);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    expect(performance.now() - started).toBeLessThan(LONGEST_MS);
    expect(visitor.complaints).toEqual([]);
  });
});

describeInBrowser('the example', () => {
  let service: Service;
  let visitor: Visitor;
  beforeAll(async () => {
    service = await Service.start({});
    visitor = await Visitor.start(service.url);
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
  );

  it('shows the step that failed, goes on there, and makes nothing twice', async () => {
    const linus = await register(service, 'Linus');
    await moveToOwnTeam(service.databaseUrl as string, linus.id);
    const own = (await service.post('/v1/projects', linus.token, { name: 'Mine', spec: {} })).body.id;
    const page = await openConsole(visitor, linus.token, '/');
    const step = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
    await page.getByRole('link', { name: 'Mine', exact: true }).waitFor();
    await page.route('**/runtime', (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()));
    await page.getByRole('button', { name: 'Set up an example' }).press('Enter');
    await step('Choose a model').getByText('failed').waitFor();
    await step('Choose a model').getByRole('alert').getByText('could not be reached').waitFor();
    await step('Create a project').getByText('done').waitFor();
    await step('Create a project').getByRole('link', { name: 'Capital cities' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.unroute('**/runtime');
    await page.route('**/runtime/start', (route) => route.abort());
    await page.getByRole('button', { name: 'Go on with the example' }).and(page.locator(':focus')).press('Enter');
    await step('Start the runtime').getByText('failed').waitFor();
    await page.unroute('**/runtime/start');
    await page.reload();
    await page.getByRole('button', { name: 'Set up an example' }).click();
    await page.getByLabel('Your question').and(page.locator(':focus')).waitFor();

    const { projects } = (await service.get('/v1/projects', linus.token)).body;
    expect(projects).toMatchObject([
      { name: 'Capital cities', models: [{ state: 'registered' }], runtime: { state: 'ready' } },
      { id: own, models: [], runtime: { state: 'not_connected' } },
    ]);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await answered(page);
  });
});
