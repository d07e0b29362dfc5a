import type { Page } from 'playwright-core';
import { copiedBy, describeInBrowser, Visitor } from '../support/browser.js';
import { addOldJobs, at, cleanUp, goBack, openConsole, shortcomingsInEveryLook, styleOf } from '../support/console.js';
import { query } from '../support/database.js';
import { Service } from '../support/service.js';
import { ask, completions, type Member, register } from '../support/workspace.js';

const JOBS = 200;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describeInBrowser('the overview, the jobs and the log of the console', () => {
  let service: Service;
  let visitor: Visitor;
  let ada: Member;
  let grace: Member;
  beforeAll(async () => {
    service = await Service.start({});
    visitor = await Visitor.start(service.url);
    ada = await register(service, 'Ada');
    grace = await register(service, 'Grace');
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
  );

  it('asks for the account and the page while its code is on the way, in few files', async () => {
    const page = await openConsole(visitor, ada.token, '/');
    await page.goto('about:blank');
    const asked = (path: RegExp) => page.waitForRequest((request) => path.test(new URL(request.url()).pathname));
    const scripts: string[] = [];
    page.on('request', (request) => request.resourceType() === 'script' && scripts.push(request.url()));
    const early = Promise.all([/\/v1\/status$/, /\/v1\/jobs$/, /\/pages\/jobs-\w+\.js$/].map(asked));
    await page.route(/\/pages\/console-\w+\.js$/, async (route) => {
      await early;
      await route.continue();
    });
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    await page.goto(`${service.url}/#/jobs`, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    for (const once of ['/v1/status', '/v1/jobs']) expect(calls.filter((path) => path === once)).toEqual([once]);
    expect(scripts.length).toBeLessThan(13);
    await page.unrouteAll();
  });

  it('marks a quota that is used up or nearly so, and shows a refusal once', async () => {
    const page = await openConsole(visitor, ada.token, '/');
    await page.route('**/v1/status', async (route) => {
      const answer = await route.fetch();
      const status = await answer.json();
      status.storage.projects = { used: 9, limit: 10 };
      status.storage.conversation_bytes = { used: 2_097_152, limit: 2_097_152 };
      await route.fulfill({ response: answer, json: status });
    });
    await page.reload();
    const row = (text: RegExp) =>
      page.getByRole('list', { name: 'Storage' }).getByRole('listitem').filter({ hasText: text });
    await row(/^Projects of your team.*nearly full.*9 of 10$/).waitFor();
    await row(/^Your conversationsfull2 MB of 2 MB$/).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    const message =
      'Your team stores 10 projects, this call adds 1, and at most 10 are allowed (SERVICE_QUOTA_PROJECTS): delete one first.';
    await page.route('**/v1/projects', (route) => {
      const json = {
        status: 'error',
        code: 'quota_exceeded',
        error: message,
        request_id: 'req_1',
        details: [{ path: '', message }],
      };
      return route.fulfill({ status: 422, json });
    });
    await button(page, 'Create the project').click();
    await page.getByRole('alert').getByText(message).waitFor();
    expect(await page.getByText(message).count()).toBe(1);
    await page.unrouteAll();
  });

  it('leads from an empty service to the playground with four buttons, and tells a member whom to ask', async () => {
    const member = await openConsole(visitor, grace.token, '/');
    await member.getByText('An admin or a developer of your team').waitFor();
    expect(await member.getByRole('button', { name: 'Create the project' }).count()).toBe(0);

    const page = await openConsole(visitor, ada.token, '/');
    await page.getByRole('heading', { name: 'Four steps to a first answer' }).waitFor();
    await page.evaluate("sessionStorage.setItem('tenon.new-key', 'tnk_new')");
    await page.reload();
    expect(await copiedBy(button(page, 'Copy key'))).toBe('tnk_new');
    expect(await page.evaluate('Object.keys(sessionStorage).join()')).toBe('tenon.session');
    await page.getByLabel('Starter').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await button(page, 'Dismiss the key').click();
    await page.getByText('tnk_new').waitFor({ state: 'detached' });

    await button(page, 'Create the project').click();
    for (const name of ['Connect the model', 'Start the runtime', 'Open the playground']) {
      await button(page, name).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
    }
    await at(page, /^\/playground\?project=prj_/);
    const { runtimes } = (await service.get('/v1/status', ada.token)).body;
    expect(runtimes).toMatchObject([{ project_name: 'Capital cities', state: 'ready' }]);
    await service.post(completions(runtimes[0].project_id), ada.token, ask(runtimes[0].project_id, 'Hello'));

    await goBack(page);
    const latency = page.getByRole('img', { name: /^Latency over the last hour: Median \d/ });
    await latency.waitFor();
    // After one call, the median is the 95th percentile: its smaller dot lies on the other one.
    const dots: [string | null, string][] = [];
    for (const line of await latency.locator('.chart-line').all())
      dots.push([await line.getAttribute('class'), await styleOf(line.locator('.chart-dots'), 'strokeWidth')]);
    expect(dots).toEqual([
      ['chart-line chart-4', '11px'],
      ['chart-line chart-1', '6px'],
    ]);
    await page.getByText('Four steps').waitFor({ state: 'detached' });
    await page.getByRole('list', { name: 'Runtimes' }).getByText('ready').waitFor();
    const storage = page.getByRole('list', { name: 'Storage' });
    await storage
      .getByRole('listitem')
      .filter({ hasText: /^Projects of your team1 of 5,000$/ })
      .waitFor();
    await storage
      .getByRole('listitem')
      .filter({ hasText: /^Uploaded models0 B of 100 GB$/ })
      .waitFor();
    await page.getByRole('list', { name: 'Newest jobs' }).getByRole('link', { name: 'Chat' }).waitFor();
    await button(page, '7 days').click();
    await page.getByRole('img', { name: /^Calls over the last 7 days/ }).waitFor();
    await at(page, '/?range=7d');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('shows operators the instances if there are several, and warns of different versions', async () => {
    const page = await openConsole(visitor, ada.token, '/');
    const change: { others: object[]; operator: boolean } = { others: [], operator: true };
    await page.route('**/v1/status', async (route) => {
      const answer = await route.fetch();
      const { caller, instances, ...status } = await answer.json();
      const own = instances.find((one: { answering: boolean }) => one.answering);
      const all = [own, ...change.others.map((other) => ({ ...own, answering: false, ...other }))];
      const json = { ...status, caller: { ...caller, operator: change.operator }, instances: all };
      await route.fulfill({ response: answer, json });
    });
    await page.reload();
    await page.getByRole('list', { name: 'Storage' }).waitFor();
    expect(await page.getByRole('region', { name: 'Instances' }).count()).toBe(0);
    const [{ project_id, targets }] = (await service.get('/v1/status', ada.token)).body.runtimes;
    const { version } = (await service.get('/openapi.json')).body.info;
    const loading = { project_id, model_id: targets[0].model_id, state: 'loading', waiting: 0 };
    const deployments = ['running', 'crash_looping', 'running'].map((status, n) => ({
      deployment_id: `dep_${n}`,
      status,
    }));
    const other = { name: 'tenon-6d5f-x2x', since: 1_700_000_000, runtimes: [loading], deployments };
    change.others = [{ ...other, state: 'draining', waiting_calls: 1_234, memory_bytes: 3_221_225_472 }];
    await page.reload();
    const panel = page.getByRole('region', { name: 'Instances' });
    const row = (text: RegExp) => panel.getByRole('row').filter({ hasText: text });
    const ago = String.raw`\d+ d ago`;
    const models = 'Capital cities loading2 running1 crash looping';
    await row(new RegExp(`^tenon-6d5f-x2x draining ${version}${ago}${models}1,2343 GB$`)).waitFor();
    await row(/answers you.*1 ready.*0\d+(\.\d)? MB$/).waitFor();
    expect(await panel.getByRole('status').count()).toBe(0);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    change.others = [{ ...other, version: '9.9.9', runtimes: Array.from({ length: 6 }, () => loading) }];
    await page.reload();
    await panel
      .getByRole('status')
      .getByText(`rolling update is under way: the instances run the versions ${version}, 9.9.9.`)
      .waitFor();
    await row(/and 3 more/).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    change.operator = false;
    await page.reload();
    await page.getByRole('list', { name: 'Storage' }).waitFor();
    expect(await panel.count()).toBe(0);
    await page.unrouteAll();
  });

  it('lists many jobs with the filters in the address, and cancels one', async () => {
    await addOldJobs(service.databaseUrl as string, ada.id, JOBS);
    await query(service.databaseUrl as string, 'UPDATE accounts SET email_verified_at = now() WHERE id = $1', [ada.id]);
    const rule = { name: 'any failure', rule_type: 'consecutive_failures', threshold: 1 };
    await service.post('/v1/alerts/rules', ada.token, rule);
    const job = async (name: string, json: object) => {
      const { id } = (await service.post('/v1/jobs', ada.token, { kind: 'external', name })).body;
      await service.call('PATCH', `/v1/jobs/${id}`, { token: ada.token, json });
      return id;
    };
    await job('training', { status: 'failed', error: 'no memory left' });
    const running = await job('import', { status: 'running', progress: { done: 3, total: 10 } });

    const page = await openConsole(visitor, ada.token, '/');
    await page.getByRole('list', { name: 'Firing alerts' }).getByRole('link').waitFor();

    const rows = page.getByRole('row').filter({ has: page.getByRole('cell') });
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByLabel('Kind').selectOption('prediction');
    for (const count of [50, 100]) {
      await rows.nth(count - 1).waitFor();
      await button(page, 'Show more').click();
    }
    await rows.nth(149).waitFor();
    const colourOf = (state: string) =>
      styleOf(page.locator('.state', { hasText: state }).first(), 'backgroundColor', '::before');
    const succeeded = await colourOf('succeeded');
    await page.getByRole('link', { name: 'Overview' }).click();
    await at(page, '/');

    await goBack(page);
    await at(page, '/jobs?kind=prediction');
    await page.getByLabel('Kind').selectOption('external');
    await page.getByLabel('Status').selectOption('failed');
    await at(page, '/jobs?kind=external&status=failed');
    await page.getByRole('link', { name: 'training' }).waitFor();
    await page.getByRole('link', { name: 'import', exact: true }).waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(1);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByRole('link', { name: 'training' }).click();
    await page.getByText('no memory left').waitFor();

    await page.goto(`${service.url}/#/jobs/${running}`);
    await page.getByText('3 of 10').first().waitFor();
    expect(await colourOf('running')).not.toBe(succeeded);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await button(page, 'Cancel the job').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByText('The job is cancelled.').waitFor();
    expect((await service.get(`/v1/jobs/${running}`, ada.token)).body.status).toBe('cancelled');
    await page.getByRole('link', { name: /^req_/ }).click();
    await page.getByText('job recorded').waitFor();
    await at(page, /^\/logs\?request_id=req_/);
  });

  it('follows the log, filters lines by level and request, and opens a line', async () => {
    await service.get('/v1/nowhere', ada.token);
    const page = await openConsole(visitor, ada.token, '/logs');
    await page.getByText('/v1/nowhere').waitFor();
    await service.post('/v1/projects', ada.token, { name: 'Logged later' });
    const line = page.getByText('POST · /v1/projects · 201').last();
    await line.waitFor();
    await button(page, 'Pause').click();
    await button(page, 'Resume').waitFor();
    await line.click();
    const copied = JSON.parse(await copiedBy(button(page, 'Copy line')));
    expect(copied).toMatchObject({ event: 'request', method: 'POST', status: 201 });
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.locator('.logs-fields').getByRole('link', { name: /^req_/ }).click();
    await page.getByText('/v1/nowhere').waitFor({ state: 'detached' });
    await page.getByText('POST · /v1/projects · 201').waitFor();
    await page.getByLabel('Level').selectOption('error');
    await page.getByText('No line fits these filters').waitFor();
    await at(page, /^\/logs\?request_id=req_.*&level=error$/);
    await button(page, 'Show all lines').click();
    await page.getByText('/v1/nowhere').waitFor();
    await at(page, '/logs');
  });
});
