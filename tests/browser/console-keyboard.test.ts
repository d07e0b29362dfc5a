import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { query } from '../support/database.js';
import { Service } from '../support/service.js';
import { password } from '../support/workspace.js';

const MOST_STEPS = 80;

/** The element with the focus: its name, and whether the user sees that it has the focus. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  const { outlineStyle, boxShadow } = getComputedStyle(element);
  return { name: name.trim(), isSeen: outlineStyle !== 'none' || boxShadow !== 'none' };
})()`;

/** Uses a page by the keyboard alone. */
class Keyboard {
  constructor(private readonly page: Page) {}

  press = (key: string) => this.page.keyboard.press(key);
  type = (text: string) => this.page.keyboard.type(text);

  /** Presses Tab until an element with this name has the focus. Fails if an element has the focus and does not show it. */
  async to(name: RegExp): Promise<void> {
    const passed: string[] = [];
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const { name: found, isSeen } = await this.page.evaluate<{ name: string; isSeen: boolean }>(FOCUSED);
      if (name.test(found)) {
        expect({ found, isSeen }).toEqual({ found, isSeen: true });
        return;
      }
      passed.push(found.slice(0, 30));
      await this.press('Tab');
    }
    throw new Error(`no ${name} among ${passed.join(' | ')}`);
  }

  async activate(name: RegExp): Promise<void> {
    await this.to(name);
    await this.press('Enter');
  }
}

describeInBrowser('the console by the keyboard alone', () => {
  let service: Service;
  let visitor: Visitor;
  let page: Page;
  let keys: Keyboard;
  let token: string;
  beforeAll(async () => {
    service = await Service.start({});
    visitor = await Visitor.start(service.url);
    page = await visitor.open('/', { width: 1280 });
    keys = new Keyboard(page);
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
  );
  const heading = (name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor();

  it('leads from the sign-up over an evaluation to an acknowledged alert', async () => {
    await page.getByLabel('Name').and(page.locator(':focus')).waitFor();
    for (const text of ['Ada', 'ada@example.com', password]) {
      await keys.type(text);
      if (text !== password) await keys.press('Tab');
    }
    await keys.press('Enter');
    await page.getByRole('button', { name: 'Set up an example' }).waitFor();
    await keys.activate(/^Set up an example$/);
    await page.getByLabel('Your question').and(page.locator(':focus')).waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    await keys.press('Enter');
    await page.getByRole('article', { name: 'Answer' }).getByText('The capital of France is Paris.').waitFor();
    await at(page, /^\/playground\?project=prj_[^?]*&conversation=/);

    token = await page.evaluate<string>("sessionStorage.getItem('tenon.session')");
    await query(service.databaseUrl as string, 'UPDATE accounts SET email_verified_at = now()');
    const [project] = (await service.get('/v1/projects', token)).body.projects;
    const [dataset] = (await service.get(`/v1/projects/${project.id}/datasets`, token)).body.datasets;
    await page.reload(); // The console asks for the permissions of a verified account.
    await page.getByLabel('Your question').waitFor();
    await keys.activate(/^Projects$/);
    await heading('Projects');
    await page.getByRole('link', { name: project.name }).waitFor();
    await keys.activate(new RegExp(`^${project.name}$`));
    await heading(project.name);
    await page.getByRole('link', { name: 'Datasets', exact: true }).waitFor();
    await keys.activate(/^Datasets/);
    await page.getByRole('link', { name: dataset.name }).waitFor();
    await keys.activate(new RegExp(`^${dataset.name}$`));
    await page.getByRole('button', { name: 'Freeze' }).waitFor();
    await keys.activate(/^Freeze$/);
    await page.getByRole('dialog').waitFor();
    await keys.activate(/^Freeze$/);
    await page.getByRole('link', { name: 'Evaluate' }).waitFor();
    await keys.activate(/^Evaluate$/);
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).waitFor();
    await keys.activate(/^Start$/);
    await at(page, /^\/evaluations\/job_/);
    await page.getByText('36 of 36').first().waitFor();
    await keys.to(/^Group/);
    await keys.type('africa'); // chooses the option
    await page.getByText(/^4 .*rows/).waitFor();
    await keys.activate(/^egypt$/);
    await page.getByRole('dialog', { name: 'Record egypt' }).waitFor();
    await keys.press('Escape');

    await keys.activate(/^Alerts/);
    await heading('Alerts');
    await page.getByRole('link', { name: 'Rules', exact: true }).waitFor();
    await keys.activate(/^Rules$/);
    await heading('Alert rules');
    await keys.activate(/New rule$/);
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await keys.to(/^Name/);
    await keys.type('training fails');
    await keys.to(/^Failed jobs in a row/);
    await keys.press('Control+a');
    await keys.type('1');
    await keys.press('Enter');
    await page.getByRole('link', { name: 'training fails' }).waitFor();
    const { id } = (await service.post('/v1/jobs', token, { kind: 'external', name: 'training' })).body;
    for (const status of ['running', 'failed'])
      await service.call('PATCH', `/v1/jobs/${id}`, { token, json: { status, error: 'no' } });
    await keys.activate(/^Alerts$/);
    const alert = page.locator('tbody a[href^="#/alerts/alr_"]').first();
    await alert.waitFor({ timeout: 30_000 });
    await keys.activate(new RegExp(`^${(await alert.textContent())?.slice(0, 12)}`));
    await at(page, /^\/alerts\/alr_/);
    await page
      .getByRole('button', { name: /Acknowledge/ })
      .first()
      .waitFor();
    await keys.activate(/^Acknowledge/);
    await page.getByRole('dialog').getByLabel('Note').waitFor();
    await keys.to(/^Note/);
    await keys.type('The disk was full.');
    await keys.activate(/^Acknowledge$/);
    await page.getByText('The alert is acknowledged.').waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('has no small targets, which the check finds', async () => {
    const opened = await openConsole(visitor, token, '/account');
    await opened.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await shortcomingsInEveryLook(opened)).toEqual([]);
    await opened.evaluate(`{
      for (const name of ['one', 'two']) {
        const button = document.createElement('button');
        button.ariaLabel = name;
        Object.assign(button.style, { width: '10px', height: '10px', minHeight: '0', padding: '0', border: '0' });
        document.querySelector('main').append(button);
      }
    }`);
    expect(JSON.stringify(await shortcomingsInEveryLook(opened))).toContain('target-size');
  });
});
