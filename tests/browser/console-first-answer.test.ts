import { describeInBrowser, Visitor } from '../support/browser.js';
import { Service } from '../support/service.js';
import { password } from '../support/workspace.js';

const MOST_CLICKS = 9;
const LONGEST_MS = 60_000;

describeInBrowser('the way to a first answer', () => {
  let service: Service | undefined;
  let visitor: Visitor | undefined;
  afterAll(async () => {
    await visitor?.stop();
    await service?.stop();
  });

  it('takes under ten clicks and under a minute from an empty data folder to a streamed answer', async () => {
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
    await press('Create the project');
    await press('Connect the model');
    await press('Start the runtime');
    await press('Open the playground');
    await page.getByLabel('Your question').fill('What is the capital of France?');
    const streamed = page.waitForResponse(/\/openai\/v1\/chat\/completions$/);
    await press('Send');
    await page.getByRole('article', { name: 'Answer' }).getByText('The capital of France is Paris.').waitFor();

    expect((await streamed).headers()['content-type']).toMatch(/^text\/event-stream/);
    expect(clicks).toBeGreaterThanOrEqual(6);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    expect(performance.now() - started).toBeLessThan(LONGEST_MS);
    expect(visitor.complaints).toEqual([]);
  });
});
