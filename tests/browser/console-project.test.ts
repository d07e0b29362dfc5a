import type { Page, Route } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, goBack, openConsole, shortcomingsInEveryLook, styleOf } from '../support/console.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { createProject, draftModel, type Member, password, register, registeredModel } from '../support/workspace.js';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describeInBrowser('projects and models in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let ada: Member;
  let mel: Member;
  const project = async (id: string) => (await service.get(`/v1/projects/${id}`, ada.token)).body;
  const save = (id: string, version: number, spec: object) =>
    service.put(`/v1/projects/${id}`, ada.token, { version, spec });

  beforeAll(async () => {
    service = await Service.start({});
    visitor = await Visitor.start(service.url);
    ada = await register(service, 'Ada');
    mel = await register(service, 'Mel');
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
  );

  it('creates a project from a starter, connects a model, reviews the project, and deletes it', async () => {
    const page = await openConsole(visitor, ada.token, '/projects');
    await press(page, 'New project');
    await page.getByRole('radio', { name: /^Capital cities/ }).check();
    await press(page, 'Create');
    await page.getByRole('heading', { name: 'Capital cities' }).waitFor();
    await press(page, 'Connect and start');
    await part(page, 'Runtime').getByText('ready').waitFor();
    await press(page, /^Review version/);
    await page.getByText('Nothing blocks').waitFor();
    await press(page, 'spec.dataset_id');
    await page.locator('[data-path="spec.dataset_id"]:focus').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await part(page, 'Runtime').getByRole('button', { name: 'Stop' }).click();
    await part(page, 'Runtime').getByText('stopped').waitFor();
    await part(page, 'Runtime').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await part(page, 'Runtime').getByText('not connected').waitFor();

    await page.keyboard.press('Control+k'); // The palette caches the projects in another form than their page does.
    await page.getByRole('combobox', { name: 'Find a page or an action' }).fill('capital');
    await page.getByRole('option', { name: /^Capital cities/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Datasets' }).click();
    await page.getByRole('link', { name: /^Capitals of/ }).waitFor();
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await press(page, 'Delete Capital cities');
    await press(page, 'Delete the project');
    await shown(page, 'There is no project yet');
  });

  it('loses no text after a stale version, a refusal, a reload or the end of the session', async () => {
    const id = await createProject(service, ada.token, { goal: 'First' });
    const { body: again } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const page = await openConsole(visitor, again.token, `/projects/${id}`);
    const goal = page.getByLabel('Goal');
    await goal.fill('Mine');
    await page.reload();
    await shown(page, 'Not saved: changes to version 1, kept in this tab.');
    expect(await goal.inputValue()).toBe('Mine');

    await save(id, 1, { goal: 'Theirs', budget: 5 });
    await press(page, 'Save');
    const stale = part(page, 'Stale version');
    await stale.getByText('Version 2 was saved while you were editing version 1.').waitFor();
    expect(await part(page, 'Saved since version 1').textContent()).toMatch(/−.*"First".*\+.*"Theirs".*"budget": 5/);
    expect(await part(page, 'Your changes since version 1').textContent()).toMatch(/"Mine"/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Take theirs');
    await holdsGoal(page, 'Theirs');
    await press(page, 'Bring my text back');
    await holdsGoal(page, 'Mine');
    await save(id, 2, { goal: 'Theirs again' });
    await press(page, 'Save');
    await press(page, 'Overwrite with mine');
    await shown(page, 'Version 4 is saved.');
    expect(await project(id)).toMatchObject({ version: 4, spec: { goal: 'Mine' } });

    await press(page, 'JSON');
    const json = page.getByLabel('Spec as JSON');
    await json.fill('{\n  "goal": "Mine",\n  "task": 5\n');
    await shown(page, 'Expected a comma or }, but found the end.');
    await json.press('Control+End');
    await page.keyboard.type('}');
    await press(page, 'Save');
    await press(page, 'spec.task');
    await until('5 is selected', async () => (await page.evaluate('String(getSelection())')) === '5');
    await page.keyboard.type('"chat"');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Tab');
    expect(await json.inputValue()).toBe('  {\n  "goal": "Mine",\n  "task": "chat"\n}');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');

    await service.post('/v1/auth/logout', again.token);
    await press(page, 'Save');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await shown(page, 'Version 5 is saved.');
    expect(await project(id)).toMatchObject({ version: 5, spec: { goal: 'Mine', task: 'chat' } });

    // The button is disabled now: its panel has the focus.
    await page.locator('[aria-label="Specification"]:focus').waitFor();

    await page.getByRole('link', { name: 'History' }).click();
    await part(page, 'Version 5 against version 4').waitFor();
    await page.getByLabel('Compared with').selectOption('2');
    expect(await part(page, 'Version 5 against version 2').textContent()).toMatch(/Theirs.*Mine/);
    await goBack(page);
    await at(page, /\?view=json$/);
    await page.evaluate('history.forward()');
    await page.getByRole('link', { name: /^Version 2/ }).click();
    await press(page, 'Restore this version');
    await press(page, 'Restore');
    await part(page, 'Version 6 against version 5').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    expect((await project(id)).spec).toEqual({ goal: 'Theirs', budget: 5 });
  });

  it('drafts, registers and forks models, and moves aliases between them', async () => {
    const id = await createProject(service, ada.token);
    const first = await registeredModel(service, ada.token, id);
    await service.put(`/v1/projects/${id}/models/aliases/champion`, ada.token, { model_id: first });
    const page = await openConsole(visitor, ada.token, `/projects/${id}/models`);
    await press(page, 'New draft');
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('The model needs it to answer.').waitFor();
    await page.getByLabel('Model folder').and(page.locator(':focus')).selectOption('tiny-chat');
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
    const second = (await at(page, /\/models\/mdl_/)).split('/').at(-1) as string;
    await page.getByLabel('Runtime').selectOption('openai');
    await page.getByLabel('Base URL').fill('http://gpu.internal/v1');
    await page.getByRole('textbox', { name: 'Model' }).fill('Qwen/Qwen3-8B');
    await press(page, 'Save');
    await part(page, 'Version 2 against version 1').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Register');
    await page.getByRole('dialog').getByRole('button', { name: 'Register' }).click();
    await part(page, 'Model').getByText('registered', { exact: true }).waitFor();
    await press(page, 'Connect and start');
    await part(page, 'Model').getByText('SERVICE_RUNTIME_ALLOWED_HOSTS').waitFor();

    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('group', { name: 'Models' }).getByText(/^Qwen/).waitFor(); // The new model is in the list.
    await press(page, 'Move');
    await page.getByLabel('Registered model').selectOption(second);
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await shown(page, /^The alias champion points to Qwen/);
    await part(page, 'Aliases').getByRole('link', { name: /^Qwen/ }).first().waitFor();
    await press(page, 'History');
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /^tiny-chat/ })
      .waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await press(page, 'Delete the alias champion');
    await press(page, 'Delete the alias');
    await shown(page, /^An alias is a name/);

    await page
      .getByRole('link', { name: /^tiny-chat/ })
      .first()
      .click();
    await press(page, 'Fork');
    await part(page, 'Model').getByText('draft', { exact: true }).waitFor();
    await shown(page, 'Nothing uses it.');
    await press(page, 'Delete');
    await press(page, 'Delete the draft');
    await at(page, /\/models$/);
    expect((await service.get(`/v1/projects/${id}/models`, ada.token)).body.count).toBe(2);
  });

  it('lets calls go to a fallback, or to a model by weight', async () => {
    const id = await createProject(service, ada.token);
    const models = [await registeredModel(service, ada.token, id), await registeredModel(service, ada.token, id)];
    const [first, second] = models as [string, string];
    await service.put(`/v1/projects/${id}/runtime`, ada.token, { model_id: first });
    const page = await openConsole(visitor, ada.token, `/projects/${id}`);
    const panel = part(page, 'Models for calls');
    const row = (model: string) => panel.getByRole('row', { name: new RegExp(model.slice(-6)) });
    await row(first).getByText('100 %').waitFor();
    await panel.getByLabel('Fallback 1').selectOption(second);
    await press(page, 'Save the models');
    await row(second).getByText('if others fail').waitFor();
    await row(second).getByText('closed').waitFor();
    expect((await project(id)).runtime).toMatchObject({ model_id: first, fallbacks: [second], split: null });
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await panel.getByLabel('A call tries first').selectOption('split');
    await panel.getByLabel(new RegExp(`Weight of .*${second.slice(-6)}`)).fill('0');
    await press(page, 'Save the models');
    await shown(page, /must be a number above 0/);
    await panel.getByLabel(new RegExp(`Weight of .*${second.slice(-6)}`)).fill('3');
    await press(page, 'Save the models');
    await row(second).getByText('75 %').waitFor();
    await row(first).getByText('25 %').waitFor();
  });

  it('deletes a dataset and a draft that cannot be shown', async () => {
    const id = await createProject(service, ada.token);
    const { id: draft } = await draftModel(service, ada.token, id, { runtime: 'onnx', path: 'tiny-chat' });
    const rows = [{ id: 'fr', input: 'France?', expected: 'Paris', level: null }];
    const dataset = await service.post(`/v1/projects/${id}/datasets`, ada.token, { name: 'capitals', records: rows });
    const page = await openConsole(visitor, ada.token, `/projects/${id}/datasets/${dataset.body.id}`);
    const level = page.getByRole('cell', { name: 'null' }).last();
    expect(await styleOf(level.getByText('null').last(), 'color')).not.toBe(
      await styleOf(page.getByRole('cell', { name: 'Paris' }), 'color'),
    );

    const json = { status: 'error', code: 'internal_error', error: 'It is broken.', request_id: 'req_1' };
    const broken = (route: Route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 500, json }) : route.continue();
    await page.route(/datasets\/dst_|models\/mdl_/, broken);
    await page.reload();
    await shown(page, 'It is broken.');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Delete the dataset');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await at(page, `/projects/${id}/datasets`);
    await page.evaluate(`location.hash = '/projects/${id}/models/${draft}'`);
    await shown(page, 'It is broken.');
    await press(page, 'Delete the draft');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the draft' }).click();
    await at(page, `/projects/${id}/models`);
    for (const kind of ['datasets', 'models'])
      expect((await service.get(`/v1/projects/${id}/${kind}`, ada.token)).body.count).toBe(0);
  });

  it('lets a member only read', async () => {
    const id = await createProject(service, ada.token, { goal: 'Read me' });
    const { id: draft } = await draftModel(service, ada.token, id, { runtime: 'onnx', path: 'tiny-chat' });
    await save(id, 1, { goal: 'Read me again' });
    const page = await openConsole(visitor, mel.token, '/projects');
    const acts = () => page.locator('main .frame').getByRole('button').allTextContents();
    await page.getByRole('main').getByRole('link', { name: 'Capitals' }).first().click();
    await page.getByText('Read me again').waitFor();
    expect(await acts()).toEqual(['Form', 'JSON']);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('link', { name: /^Version 1/ }).click();
    await page.getByRole('heading', { name: 'Version 1' }).waitFor();
    expect(await acts()).toEqual([]);
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('link', { name: /^tiny-chat/ }).click();
    await at(page, new RegExp(draft));
    await part(page, 'Model').getByText('draft', { exact: true }).waitFor();
    expect(await acts()).toEqual(['Form', 'JSON']);
  });
});

const holdsGoal = (page: Page, goal: string) =>
  until(`the goal is ${goal}`, async () => (await page.getByLabel('Goal').inputValue()) === goal);
