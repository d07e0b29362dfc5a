import { describeInBrowser, Visitor } from '../support/browser.js';
import { openConsole } from '../support/console.js';
import { Service } from '../support/service.js';
import { type Member, moveToOwnTeam, register, startedProject } from '../support/workspace.js';

const WORKSPACE = ['Overview', 'Playground', 'Projects'];
const OPERATIONS = ['Deployments', 'Alerts', 'Logs'];

describeInBrowser('what the console offers to each role', () => {
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
    '%s: no page that is offered answers 403',
    async (role) => {
      const page = await openConsole(visitor, people[role].token, '/');
      const refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`);
      });
      const menu = page.getByRole('navigation', { name: 'Main' });
      await menu.getByRole('link', { name: 'Overview' }).waitFor();
      const offered = await menu.locator('ul a').allTextContents();
      const names = offered.map((name) => name.trim());
      expect(names).toEqual(expect.arrayContaining(WORKSPACE));
      for (const name of OPERATIONS)
        expect({ name, is: names.includes(name) }).toEqual({ name, is: role !== 'regular' });

      const places = [...names.map((name) => ({ name })), { name: null }];
      for (const { name } of places) {
        if (name) await menu.getByRole('link', { name, exact: true }).click();
        // A regular account is of another team: the project is not found, which is no refusal of its role.
        else await page.goto(`${service.url}/#/projects/${project}`);
        await page.locator('main h1, main [role=alert]').first().waitFor({ state: 'attached' });
        await page.waitForLoadState('networkidle');
        for (const tab of await page.locator('.tabs a').allTextContents()) {
          await page.locator('.tabs').getByRole('link', { name: tab, exact: true }).click();
          await page.waitForLoadState('networkidle');
        }
      }
      expect(refused).toEqual([]);
      expect(visitor.complaints).toEqual([]);
    },
  );

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
      await page.locator('h1').waitFor();
      await page.waitForLoadState('networkidle');
      const found = await page.locator('main').getByRole('button', { name: acts }).allTextContents();
      expect({ place, found }).toEqual({ place, found: [] });
    }
  });
});
