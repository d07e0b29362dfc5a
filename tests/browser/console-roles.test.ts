import type { Locator, Page, Request } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import {
  createProject,
  draftModel,
  type Member,
  moveToOwnTeam,
  register,
  startedProject,
} from '../support/workspace.js';

const WORKSPACE = ['Overview', 'Playground', 'Projects'];
const OPERATIONS = ['Deployments', 'Alerts', 'Logs'];

/** Follows the calls of a page. `arrived` resolves once the page of a link is drawn and none of its calls is open. */
function followCalls(page: Page) {
  const open = new Set<Request>();
  const refused: string[] = [];
  page.on('request', (request) => open.add(request));
  page.on('requestfailed', (request) => open.delete(request));
  page.on('requestfinished', async (request) => {
    const response = await request.response();
    if (response?.status() === 403) refused.push(`${request.method()} ${request.url()}`);
    open.delete(request);
  });
  const arrived = async (link: Locator) => {
    await until('the link is the current one', async () => (await link.getAttribute('aria-current')) === 'page');
    await page.locator('main h1, main [role=alert]').first().waitFor({ state: 'attached' });
    await until(
      () => `no call is open: ${[...open].map((one) => one.url())}`,
      () => open.size === 0,
    );
  };
  return { refused, arrived };
}

describeInBrowser('the console for each role', () => {
  let service: Service;
  let visitor: Visitor;
  let people: Record<'admin' | 'developer' | 'member' | 'regular', Member>;
  let project: string;
  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_RATE_LIMIT_PER_MIN: '2000', SERVICE_MAX_ACCOUNTS: '10' } });
    visitor = await Visitor.start(service.url);
    people = {
      admin: await register(service, 'Ada'),
      developer: await register(service, 'Grace'),
      member: await register(service, 'Alan'),
      regular: await register(service, 'Linus'),
    };
    const { admin, developer, regular } = people;
    await service.call('PATCH', `/v1/auth/users/${developer.id}/role`, {
      token: admin.token,
      json: { role: 'developer' },
    });
    await moveToOwnTeam(service.databaseUrl as string, regular.id);
    project = await startedProject(service, admin.token);
  });
  afterEach(() => visitor.closePages());
  afterAll(async () => {
    await visitor?.stop();
    await service?.stop();
  });

  it.each(['admin', 'developer', 'member', 'regular'] as const)(
    '%s: no offered page gets an answer with 403',
    async (role) => {
      const page = await openConsole(visitor, people[role].token, '/');
      const { refused, arrived } = followCalls(page);
      const menu = page.getByRole('navigation', { name: 'Main' });
      const followTabs = async () => {
        for (const tab of await page.locator('.tabs a').all()) {
          await tab.click();
          await arrived(tab);
        }
      };
      await menu.getByRole('link', { name: 'Overview' }).waitFor();
      const offered = await menu.locator('ul a').allTextContents();
      const names = offered.map((name) => name.trim());
      expect(names).toEqual(expect.arrayContaining(WORKSPACE));
      for (const name of OPERATIONS)
        expect({ name, is: names.includes(name) }).toEqual({ name, is: role !== 'regular' });

      for (const name of names) {
        const item = menu.getByRole('link', { name, exact: true });
        await item.click();
        await arrived(item);
        await followTabs();
      }
      // A regular account belongs to another team. It gets 404 for the project, not 403.
      await page.goto(`${service.url}/#/projects/${project}`);
      await arrived(menu.getByRole('link', { name: 'Projects', exact: true }));
      await followTabs();
      expect(refused).toEqual([]);
      expect(visitor.complaints).toEqual([]);
    },
  );

  it('another team is led to draft a model, although it sees no model files and no deployments', async () => {
    const { token } = people.regular;
    const own = await createProject(service, token);
    const page = await openConsole(visitor, token, `/projects/${own}`);
    await page.getByRole('link', { name: 'Draft a model' }).waitFor();
    const { id } = await draftModel(service, token, own, { runtime: 'onnx', path: 'tiny-chat' });
    await page.goto(`${service.url}/#/projects/${own}/models/${id}`);
    await page.getByText('Nothing uses it.').waitFor();
  });

  it('a member reads forms as text, and a finding still leads to its place in the text', async () => {
    const { token } = people.admin;
    const spec = { goal: 'Name capitals', acceptance: { metric: 'exact', threshold: 0.9, field: 'town' } };
    const { body } = await service.post('/v1/projects', token, { name: 'Capitals to read', spec });
    const { id } = await draftModel(service, token, body.id, { runtime: 'onnx', path: 'tiny-chat' });
    const page = await openConsole(visitor, people.member.token, `/projects/${body.id}`);
    const main = page.getByRole('main');
    const reads = async (...texts: (string | RegExp)[]) => {
      for (const text of texts) await main.getByText(text, { exact: true }).first().waitFor();
      expect(await main.locator('input, textarea, select, :disabled').count()).toBe(0);
      expect(await shortcomingsInEveryLook(page)).toEqual([]);
    };
    await reads(
      'Capitals to read',
      'Name capitals',
      'exact: the same text',
      '0.9',
      'No model is connected.',
      'not set',
    );
    await page.goto(`${service.url}/#/projects/${body.id}?view=json&at=spec.acceptance.field`);
    const json = main.getByRole('group', { name: 'Spec as JSON' });
    await json.getByText('"goal": "Name capitals"').waitFor();
    await until('the place of the finding is selected', async () =>
      (await page.evaluate<string>('getSelection().toString()')).includes('town'),
    );
    await reads();
    await page.goto(`${service.url}/#/projects/${body.id}/models/${id}`);
    await reads('onnx: a model of this service', /^tiny-chat \(chat/);
  });

  it('the log is for the operator team alone, and its page shows no path of the machine', async () => {
    const { status, body } = await service.get('/v1/logs', people.regular.token);
    expect([status, body.code]).toEqual([403, 'operator_only']);
    const other = await openConsole(visitor, people.regular.token, '/logs');
    await other.getByText('Your role does not allow this page').waitFor();
    const page = await openConsole(visitor, people.member.token, '/logs');
    await page.getByText('The newest lines of the log').waitFor();
    await page.getByRole('region', { name: 'Lines, newest last' }).waitFor();
    expect(await page.locator('main header').first().textContent()).not.toContain(service.dataDir);
    expect(await page.getByText(/\.log\b/).count()).toBe(0);
  });

  it('tells another team what it can do about a refusal, without the name of a setting', async () => {
    const page = await openConsole(visitor, people.regular.token, '/projects?new=1');
    const refusal = 'at most 1 are allowed (SERVICE_QUOTA_PROJECTS): delete one first.';
    const details = [{ path: '', message: refusal }];
    const json = { status: 'error', code: 'quota_exceeded', error: refusal, request_id: 'req_1', details };
    await page.route('**/v1/projects', (route) => route.fulfill({ status: 422, json }));
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').getByText('at most 1 are allowed: delete one first.').waitFor();
    await page.unrouteAll();
    await page.goto(`${service.url}/#/projects/${await createProject(service, people.regular.token)}/models?new=1`);
    await page.getByLabel('Runtime').selectOption('openai');
    await page.getByText('The operator of this service must allow its host').waitFor();
    expect(await page.getByText('SERVICE_RUNTIME_ALLOWED_HOSTS').count()).toBe(0);
  });

  it('a member reads, and finds no button that changes the workspace or the operations', async () => {
    const page = await openConsole(visitor, people.member.token, '/projects');
    const acts = /^(New project|Deploy|New rule|Start|Stop|Save|Delete|Register|Invite|Freeze)/;
    for (const place of [
      '/projects',
      `/projects/${project}`,
      `/projects/${project}/models`,
      '/deployments',
      '/alerts/rules',
    ]) {
      await page.goto(`${service.url}/#${place}`);
      await page.reload({ waitUntil: 'networkidle' });
      await page.locator('h1').waitFor();
      const found = await page.locator('main').getByRole('button', { name: acts }).allTextContents();
      expect({ place, found }).toEqual({ place, found: [] });
    }
  });
});
