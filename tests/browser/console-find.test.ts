import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { addOldJobs, at, cleanUp, goBack, openConsole, shortcomingsInEveryLook, styleOf } from '../support/console.js';
import { query } from '../support/database.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { type Member, password, register, registeredModel } from '../support/workspace.js';

const PROJECTS = 60;
const JOBS = 200;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const rowsOf = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('cell') });

/** Returns the texts of the first cells of a table. */
const firstCells = (page: Page) => page.locator('tbody td:first-child a').allInnerTexts();

const focusedHref = (page: Page) => page.evaluate("document.activeElement.getAttribute('href')");

const listed = (page: Page, expected: readonly string[]) =>
  until(
    () => `the list shows ${expected}`,
    async () => JSON.stringify(await firstCells(page)) === JSON.stringify(expected),
  );

describeInBrowser('finding in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let ada: Member;
  let mel: Member;
  let project: string;
  let dataset: string;
  let model: string;
  let job: string;
  const post = async (path: string, json: object, token = ada.token) => (await service.post(path, token, json)).body;
  beforeAll(async () => {
    service = await Service.start({});
    visitor = await Visitor.start(service.url);
    ada = await register(service, 'Ada');
    mel = await register(service, 'Mel');
    const database = service.databaseUrl as string;
    await query(database, 'UPDATE accounts SET email_verified_at = now()');
    project = (await post('/v1/projects', { name: 'Geography of Peru' })).id;
    for (let n = 1; n < PROJECTS; n++) await post('/v1/projects', { name: `Project ${n}` });
    const datasets = `/v1/projects/${project}/datasets`;
    for (const [name, count] of [
      ['Rivers', 3],
      ['Capital cities', 1],
      ['Lakes', 2],
    ] as const) {
      const records = Array.from({ length: count }, (_, n) => ({ input: `${name} ${n}`, expected: 'x' }));
      const { id } = await post(datasets, { name, records });
      if (name === 'Rivers') dataset = id;
    }
    await post(`${datasets}/${dataset}/freeze`, {});
    model = await registeredModel(service, ada.token, project);
    job = (await post('/v1/jobs', { kind: 'external', name: 'Nightly rivers' })).id;
    await addOldJobs(database, ada.id, JOBS);
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
  );

  it('finds projects by name and sorts them, and keeps both in the address', async () => {
    const page = await openConsole(visitor, ada.token, '/projects');
    await rowsOf(page)
      .nth(PROJECTS - 1)
      .waitFor();
    await page.getByLabel('Search').fill('PERU');
    await at(page, '/projects?q=PERU');
    await listed(page, ['Geography of Peru']);
    await page.getByLabel('Search').fill('no such project');
    await button(page, 'Show all projects').click();
    await rowsOf(page)
      .nth(PROJECTS - 1)
      .waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe('');
    await page.getByLabel('Search').fill('t 1');
    await at(page, '/projects?q=t+1');
    await button(page, 'Project').press('Enter');
    await at(page, '/projects?q=t+1&sort=project');
    const found = ['Project 1', ...Array.from({ length: 10 }, (_, n) => `Project ${10 + n}`)];
    await listed(page, found);
    await button(page, 'Project').click();
    await listed(page, found.toReversed());
    expect(await page.getByRole('columnheader', { name: 'Project' }).getAttribute('aria-sort')).toBe('descending');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByRole('link', { name: 'Project 12' }).click();
    await page.getByRole('heading', { name: 'Project 12' }).waitFor();
    await goBack(page);
    await at(page, '/projects?q=t+1&sort=-project');
    await listed(page, found.toReversed());
    expect(await page.getByLabel('Search').inputValue()).toBe('t 1');
    await button(page, 'Project').click();
    await at(page, '/projects?q=t+1');
    await listed(page, found.toReversed());
  });

  it('finds and sorts the datasets and the models of a project, and jobs by name', async () => {
    const page = await openConsole(visitor, mel.token, `/projects/${project}/datasets`);
    await button(page, 'Records').click();
    await listed(page, ['Capital cities', 'Lakes', 'Rivers']);
    await page.getByLabel('Search').fill('ke');
    await listed(page, ['Lakes']);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await rowsOf(page).first().waitFor();
    await page.getByLabel('Search').fill('no such model');
    await page.getByText('No model has this in its name').waitFor();
    await page.goto(`${service.url}/#/jobs`);
    await page.getByLabel('Search').fill('nightly');
    await listed(page, ['Nightly rivers']);
    await at(page, '/jobs?q=nightly');
    await button(page, 'Duration').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('sorts a list with more rows than it shows, and loads the others for this', async () => {
    const page = await openConsole(visitor, ada.token, '/jobs?kind=prediction');
    await rowsOf(page).nth(49).waitFor();
    await button(page, 'Show more').waitFor();
    await button(page, 'Created').click();
    await at(page, '/jobs?kind=prediction&sort=created');
    await until('all rows are shown', async () => (await rowsOf(page).count()) === JOBS);
    const [oldest] = (await query(
      service.databaseUrl as string,
      "SELECT id FROM jobs WHERE kind = 'prediction' ORDER BY created_at LIMIT 1",
    )) as { id: string }[];
    expect(await rowsOf(page).first().getByRole('link').first().getAttribute('href')).toBe(`#/jobs/${oldest?.id}`);
    expect(await button(page, 'Show more').count()).toBe(0);
    expect(await styleOf(button(page, 'Status'), 'content', '::after')).toContain('↕');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await button(page, 'Created').click();
    await button(page, 'Created').click();
    await at(page, '/jobs?kind=prediction');
    expect(await rowsOf(page).count()).toBe(JOBS);
  });

  it('returns to the same rows and the same place after a step back', async () => {
    const page = await openConsole(visitor, ada.token, '/jobs');
    for (const count of [50, 100]) {
      await rowsOf(page)
        .nth(count - 1)
        .waitFor();
      await button(page, 'Show more').click();
    }
    await rowsOf(page).nth(149).waitFor();
    const link = rowsOf(page).nth(120).getByRole('link').first();
    await link.scrollIntoViewIfNeeded();
    const href = await link.getAttribute('href');
    const before = await page.evaluate<number>('scrollY');
    expect(before).toBeGreaterThan(1_000);
    await link.click();
    await at(page, /^\/jobs\/job_/);
    await page.getByText('Requested by').or(page.getByText('Created')).first().waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await goBack(page);
    await at(page, '/jobs');
    await until(
      'the list is where it was',
      async () => Math.abs((await page.evaluate<number>('scrollY')) - before) < 2,
    );
    expect(await rowsOf(page).count()).toBe(150);
    await until('the link has the focus again', async () => (await focusedHref(page)) === href);
    await page.getByRole('link', { name: 'Alerts', exact: true }).click();
    await at(page, '/alerts');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await until('only the first rows are shown', async () => (await rowsOf(page).count()) === 50);
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  it('finds and sorts members, invites, keys, sessions, rules and evaluations', async () => {
    for (let n = 0; n < 12; n++) {
      await post('/v1/auth/invites', { role: 'member', expires_in: 86_400, email: `guest${n}@example.com` });
      await post('/v1/keys', { name: `key ${n}` });
      await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
      const rule = { rule_type: 'consecutive_failures', threshold: 1 + n };
      await post('/v1/alerts/rules', { name: `rule ${n}`, ...rule });
    }
    const page = await openConsole(visitor, ada.token, '/team');
    const table = (label: string) => page.getByRole('group', { name: label, exact: true });
    const first = (label: string) => table(label).locator('tbody tr').first();
    const narrowed = (label: string, text: string) =>
      until(`${label} shows only ${text}`, async () => {
        const rows = table(label).locator('tbody tr');
        return (await rows.count()) === 1 && (await rows.textContent())?.includes(text) === true;
      });
    await page.getByLabel('Search invites').fill('GUEST11');
    await narrowed('Pending invites', 'guest11@example.com');
    await page.getByLabel('Search invites').fill('nobody');
    await button(page, 'Show all invites').click();
    await table('Pending invites').getByRole('button', { name: 'For', exact: true }).click();
    expect(await first('Pending invites').textContent()).toContain('guest0@');
    expect(await page.getByLabel('Search members').count()).toBe(0); // two are few
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    await page.goto(`${service.url}/#/account`);
    await page.getByLabel('Search keys').fill('key 7');
    await narrowed('API keys', 'key 7');
    await page.getByLabel('Search sessions').waitFor();
    await table('Sessions').getByRole('button', { name: 'Signed in' }).click();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await at(page, '/account?key=key+7&session-sort=signed-in');

    await page.goto(`${service.url}/#/alerts/rules`);
    await page.getByLabel('Search rules').fill('rule 3');
    await narrowed('Alert rules', 'rule 3');
    await page.goto(`${service.url}/#/evaluations?q=nothing`);
    await page.getByText('No evaluation has this in its name').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('finds lines of the log by text and by time', async () => {
    const page = await openConsole(visitor, ada.token, '/logs');
    await page.getByLabel('Search').fill('JOB RECORDED');
    await page.getByText('job recorded').waitFor();
    await until('only one line fits', async () => (await page.locator('.logs-line').count()) === 1);
    await at(page, '/logs?q=JOB+RECORDED');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
    await page.getByLabel('To', { exact: true }).blur();
    await page.getByText('No line fits these filters').waitFor();
    const seconds = new Date(2020, 0, 1).getTime() / 1000;
    await at(page, `/logs?q=JOB+RECORDED&to=${seconds}`);
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toMatch(/^2020-01-01T00:00/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.goto(`${service.url}/#/logs?q=job+recorded&from=${seconds}`);
    await page.getByText('job recorded').waitFor();
    expect(await page.getByLabel('From').inputValue()).toMatch(/^2020-01-01T00:00/);
  });

  it('names and links the objects of the audit trail, and finds them by name', async () => {
    const page = await openConsole(visitor, ada.token, '/team/audit');
    const entry = (name: string) => rowsOf(page).filter({ has: page.getByRole('link', { name, exact: true }) });
    await entry('Rivers').filter({ hasText: ', project: Geography of Peru,' }).waitFor();
    expect(await entry('Rivers').first().textContent()).toMatch(/Ada[\s\S]*dataset frozen/);
    await page.getByLabel('Search').fill('rivers');
    await at(page, '/team/audit?q=rivers');
    await until('only one entry is shown', async () => (await rowsOf(page).count()) === 1);
    await page.getByLabel('Search').fill('mel');
    await entry('Mel').first().waitFor();
    await until('the entries are of Mel', async () => (await entry('Mel').count()) === (await rowsOf(page).count()));
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Search').fill('nobody at all');
    await button(page, 'Show all entries').click();
    await entry('Rivers').getByRole('link').click();
    await page.getByRole('heading', { name: 'Rivers' }).waitFor();
    await at(page, `/projects/${project}/datasets/${dataset}`);
  });

  it('finds objects of every kind and the actions of the role in the palette, with few calls', async () => {
    const page = await openConsole(visitor, ada.token, '/');
    const calls: string[] = [];
    page.on('request', (request) => void calls.push(new URL(request.url()).pathname));
    const option = (name: RegExp) => page.getByRole('option', { name });
    const open = async (text: string) => {
      await page.getByRole('button', { name: /^Find/ }).first().click();
      await page.getByRole('dialog').getByRole('combobox').fill(text);
    };
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /^Find/ }).first().click();
    calls.splice(0);
    await page.keyboard.type('rivers');
    await option(/^Rivers dataset of Geography of Peru$/).waitFor();
    await option(/^Nightly rivers job$/).waitFor();
    expect(calls.filter((path) => path === '/v1/search').length).toBeLessThan(4);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await option(/^Rivers dataset/).click();
    await at(page, `/projects/${project}/datasets/${dataset}`);
    for (const [text, name, place] of [
      ['geography', /^Geography of Peru project$/, `/projects/${project}`],
      ['chat peru', /^Chat with Geography of Peru/, `/playground?project=${project}`],
      ['tiny model', /model of Geography of Peru$/, `/projects/${project}/models/${model}`],
      [job, /^job_/, `/jobs/${job}`],
      ['new alert', /^New alert rule action$/, '/alerts/rules?rule=new'],
    ] as const) {
      await open(text);
      await option(name).first().click();
      await at(page, place);
    }
    await page.getByRole('dialog', { name: /rule/i }).waitFor();
    await page.keyboard.press('Escape');
    await at(page, '/alerts/rules');
    await open(`project ${PROJECTS - 1}`); // the newest project, into which the palette offers an import, too
    await option(/^Project 59 project$/).waitFor();
    await page.keyboard.press('Enter');
    await at(page, /^\/projects\/prj_[^/?]*$/);
    await open('new project');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /project/i }).waitFor();
    await at(page, '/projects?new=1');

    const members = await openConsole(visitor, mel.token, '/');
    await members.getByRole('heading', { name: 'Overview' }).waitFor();
    await members.keyboard.press('Control+k');
    await members.getByRole('dialog').getByRole('combobox').fill('new');
    await members.getByText('Nothing has this name.').waitFor();
    await members.getByRole('dialog').getByRole('combobox').fill('sign out');
    await members.keyboard.press('Enter');
    await members.waitForURL(/\/auth/);
  });
});
