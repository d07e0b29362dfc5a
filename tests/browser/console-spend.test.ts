import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { query } from '../support/database.js';
import { ended, frozenDataset, records } from '../support/evaluations.js';
import { type Cast, castOf } from '../support/monitoring.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { ask, completions, readyProject } from '../support/workspace.js';

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const cell = (page: Page, name: string | RegExp) => page.getByRole('cell', { name, exact: true });

describeInBrowser('budgets and costs in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let engine: ScriptedEngine;
  let cast: Cast;
  let project: string;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    service = await Service.start({
      env: { SERVICE_MAX_ACCOUNTS: '9', SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_CURRENCY: 'EUR' },
    });
    visitor = await Visitor.start(service.url);
    cast = await castOf(service);
    const prices = { input: 0, output: 0, per_call: 0.1 };
    project = await readyProject(service, cast.admin.token, {
      runtime: 'openai',
      base_url: engine.url,
      model: 'any',
      prices,
    });
    for (let call = 0; call < 3; call++) await chat();
  });
  afterEach(() => query(service.databaseUrl as string, 'TRUNCATE alert_rules, budgets CASCADE'));
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => engine?.close(),
  );

  const chat = async () => {
    const { status } = await service.post(completions(project), cast.admin.apiKey, ask(project, 'Hello'));
    expect(status).toBe(200);
  };
  const budget = async (over: object, token = cast.admin.token) => {
    const about = { scope: 'project', scope_id: project, unit: 'cost', limit: 1, period: 'month', ...over };
    const { status, body } = await service.post('/v1/budgets', token, about);
    expect(status).toBe(201);
    return body;
  };

  it('creates, shows, changes and deletes a budget', async () => {
    const page = await openConsole(visitor, cast.admin.token, '/budgets');
    await page.getByText('There are no budgets yet').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByRole('link', { name: 'New budget' }).click();
    await page.getByLabel('Limits').selectOption({ label: 'A project' });
    await page.getByLabel('Which one').selectOption(project);
    await page.getByLabel('Unit').selectOption({ label: 'Cost in EUR' });
    await press(page, 'Create');
    await page.getByLabel('Limit', { exact: true }).and(page.locator(':focus')).waitFor();
    await page.getByLabel('Limit', { exact: true }).fill('0.5');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Create');
    await cell(page, '0.5 EUR each month').waitFor();
    await cell(page, '0.3 settled, 0 held, 0.2 left').waitFor();
    expect(await page.locator('.budget-settled').getAttribute('width')).toBe('60');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    await page.getByRole('link', { name: 'Change' }).click();
    await page.getByLabel('Limit', { exact: true }).fill('0.35');
    await page.getByLabel('When it is used up').selectOption('alert');
    await press(page, 'Change');
    await cell(page, /0.3 settled, 0 held, 0.05 left nearly used/).waitFor();
    await cell(page, '0.35 EUR each month, refuses nothing').waitFor();
    await press(page, 'Delete the budget of 0.35 EUR each month');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no budgets yet').waitFor();
  });

  it('shows an account only the budgets of its keys, and lets it change only its own', async () => {
    const { keys } = (await service.get('/v1/keys', cast.member.token)).body;
    const ofKey = { scope: 'key', scope_id: keys[0].id, unit: 'calls' };
    await budget({});
    await budget({ ...ofKey, limit: 10 });
    const page = await openConsole(visitor, cast.member.token, '/budgets');
    await page.getByText('set by an admin').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByRole('link', { name: 'Change' }).count()).toBe(0);
    await page.getByRole('link', { name: 'New budget' }).click();
    expect(await page.getByLabel('Limits').locator('option').allTextContents()).toEqual(['An API key of yours']);
    await page.getByLabel('Unit').selectOption('tokens');
    await page.getByLabel('Limit', { exact: true }).fill('1000');
    await press(page, 'Create');
    await cell(page, '1,000 tokens each month').waitFor();
    await page.getByRole('link', { name: 'Change' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('warns on the overview of budgets that run short, and of no others', async () => {
    await budget({ limit: 0.31 });
    await budget({ limit: 3, scope: 'account', scope_id: cast.admin.id, unit: 'calls' });
    await budget({ limit: 100 });
    const page = await openConsole(visitor, cast.admin.token, '/');
    const short = page.getByRole('list', { name: 'Budgets that run short' }).getByRole('listitem');
    await short.first().waitFor();
    const texts = (await short.allTextContents()).map((text) => text.replace(/^\D*You/, 'You'));
    expect(texts).toEqual([
      expect.stringMatching(/^You.*used up.*calls, each month/),
      expect.stringMatching(/nearly used.*cost, each month/),
    ]);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('shows costs by project, model, account and key', async () => {
    const page = await openConsole(visitor, cast.admin.token, '/budgets/costs');
    await page.getByRole('img', { name: 'Costs over the last 30 days: 0.3 EUR in all.' }).waitFor();
    const named = (await service.get('/v1/status', cast.admin.token)).body.runtimes[0].project_name;
    const names = {
      'By model': /^any · /,
      'By account': 'You',
      'By key': /^Key .*tnk_/,
      'By project': named,
    };
    for (const [by, name] of Object.entries(names)) {
      await page.getByRole('link', { name: by }).click();
      await page
        .getByRole('row')
        .filter({ has: cell(page, name) })
        .filter({ has: cell(page, '0.3') })
        .waitFor();
    }
    await page.getByRole('link', { name: '24 hours' }).click();
    await page.getByRole('img', { name: 'Costs over the last 24 hours: 0.3 EUR in all.' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('computes what the calls would have cost with other prices', async () => {
    const page = await openConsole(visitor, cast.admin.token, '/budgets/trial');
    const trial = page.locator('.figure').filter({ hasText: 'With these prices' });
    await page.getByLabel('For each call').fill('0.7');
    await trial.getByText('2.1 EUR', { exact: true }).waitFor(); // 3 * 0.7 is 2.0999999999999996
    await page.locator('.figure').filter({ hasText: 'In truth' }).getByText('0.3 EUR', { exact: true }).waitFor();
    await page.getByLabel('Input, for a million').fill('a lot');
    await page.getByText('A number from 0 on').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Input, for a million').fill('1000000');
    const { usage } = (await service.get('/v1/usage', cast.admin.token)).body;
    const tokens = usage.reduce((sum: number, { tokens_in }: { tokens_in: number }) => sum + tokens_in, 0);
    expect(tokens).toBeGreaterThan(0);
    await trial.getByText(`${tokens + 2}.1 EUR`, { exact: true }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('makes an alert rule for a budget, with a preview', async () => {
    await budget({ unit: 'calls', limit: 3 });
    const page = await openConsole(visitor, cast.admin.token, '/budgets');
    await page.getByRole('link', { name: 'Add an alert' }).click();
    await page.getByRole('img', { name: /^It would have fired once over 3 finished jobs/ }).waitFor();
    await page.getByLabel('Used share of the limit').fill('101');
    await page.getByText('It would not have fired over 3 finished jobs.').waitFor();
    await page.getByLabel('Used share of the limit').fill('90');
    await page.getByLabel('Name').fill('calls run short');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Create');
    await cell(page, 'When 90 % of a budget (calls of a project, each month) are used').waitFor();
    await page.getByRole('link', { name: 'New rule' }).click();
    await page.getByLabel('Fires when').selectOption({ label: 'Many calls fail' });
    await page.getByLabel('Calls at least').fill('2');
    await page.getByLabel('Name').fill('failures');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Create');
    await cell(page, 'When 10 % of the calls fail, of at least 2 within 10 minutes').waitFor();
  });

  it('has the prices of models in their form', async () => {
    const page = await openConsole(visitor, cast.admin.token, `/projects/${project}/models?new=1`);
    await page.getByLabel('Runtime').selectOption('openai');
    await page.getByLabel('Base URL').fill(engine.url);
    await page.getByLabel('Model', { exact: true }).fill('any');
    await page.getByText('Prices', { exact: true }).click();
    await page.getByLabel('Input, for a million tokens', { exact: true }).fill('0.15');
    await page.getByLabel('Output, for a million tokens', { exact: true }).fill('dear');
    await press(page, 'Create and register');
    await page.getByText('must be a number from 0 to 1000000').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Output, for a million tokens', { exact: true }).fill('0.60');
    await press(page, 'Create and register');
    await page.getByRole('heading', { name: /^any · / }).waitFor();
    const { models } = (await service.get(`/v1/projects/${project}/models`, cast.admin.token)).body;
    expect(models[0].state).toBe('registered');
    expect(models[0].spec.prices).toEqual({ input: 0.15, output: 0.6 });
  });

  it('has the prices of deployments in their dialog, and shows a refused one by its field', async () => {
    const page = await openConsole(visitor, cast.admin.token, '/deployments?dialog=deploy&kind=engine');
    await page.getByLabel('Name', { exact: true }).fill('far away');
    await page.getByLabel('Address of the engine').fill(engine.url);
    await page.getByLabel('Name of the model at the engine').fill('double');
    await page.getByText('Prices', { exact: true }).click();
    await page.getByLabel('Price for each call').fill('0.0000000001');
    await page.getByLabel('Price for each second').fill('-1');
    await press(page, 'Deploy');
    await page.locator('[aria-invalid="true"]').first().waitFor();
    for (const name of ['Price for each call', 'Price for each second'])
      expect(await page.getByLabel(name).getAttribute('aria-invalid')).toBe('true');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  // The last test of the file, because its calls cost something, too.
  it('shows what the model calls of an evaluation have cost', async () => {
    const { token } = cast.admin;
    const dataset_id = await frozenDataset(service, token, project, records(4));
    const { body } = await service.post('/v1/jobs', token, { kind: 'evaluation', project_id: project, dataset_id });
    await ended(service, token, body.id);
    const page = await openConsole(visitor, token, `/evaluations/${body.id}`);
    await page.getByText('0.4 EUR', { exact: true }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.goto(page.url().replace('/evaluations/', '/jobs/'));
    const facts = page.getByRole('region', { name: 'Model calls' });
    await facts.getByText('0.4 EUR', { exact: true }).waitFor();
    expect(await facts.textContent()).toMatch(/Calls4.*Time/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });
});
