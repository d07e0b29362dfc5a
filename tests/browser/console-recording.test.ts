import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { query } from '../support/database.js';
import { ended, frozenDataset, records } from '../support/evaluations.js';
import { type Cast, castOf } from '../support/monitoring.js';
import { ScriptedEngine, speaking } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { createProject, readyProject } from '../support/workspace.js';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const wide = (page: Page) => page.setViewportSize({ width: 1280, height: 740 });
/** Runtimes read the settings of their projects again after about a second. */
const KNOWN_MS = 1_500;

describeInBrowser('recording in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let engine: ScriptedEngine;
  let cast: Cast;
  let project: string;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    const env = { SERVICE_MAX_ACCOUNTS: '9', SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
    service = await Service.start({ env: { ...env, SERVICE_RATE_LIMIT_PER_MIN: '2000' } });
    visitor = await Visitor.start(service.url);
    cast = await castOf(service);
    project = await readyProject(service, cast.admin.token, { runtime: 'openai', base_url: engine.url, model: 'any' });
  });
  beforeEach(() => {
    engine.script = speaking();
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => engine?.close(),
  );

  const read = async (path: string) => (await service.get(`/v1${path}`, cast.admin.token)).body;
  const specOf = async (id: string) => (await read(`/projects/${id}`)).spec;
  const save = async (id: string, changed: object) => {
    const { version, spec } = await read(`/projects/${id}`);
    const body = { version, spec: { ...spec, ...changed } };
    expect((await service.put(`/v1/projects/${id}`, cast.admin.token, body)).status).toBe(200);
  };
  const record = async (settings: object) => {
    await save(project, { record: settings });
    await new Promise((resolve) => setTimeout(resolve, KNOWN_MS));
  };
  const datasetOf = async (name: string) => {
    const { datasets } = await read(`/projects/${project}/datasets`);
    const { id } = datasets.find((one: { name: string }) => one.name === name);
    return read(`/projects/${project}/datasets/${id}`);
  };
  const answered = async (page: Page, question: string) => {
    const answers = page.getByRole('article', { name: 'Answer' });
    const before = await answers.count();
    await page.getByLabel('Your question').fill(question);
    await page.getByLabel('Your question').press('Enter');
    await until('there is another answer', async () => (await answers.count()) > before);
    await page.getByRole('button', { name: 'Good answer' }).last().waitFor();
  };

  it('is set in plain words, and each choice says what it means', async () => {
    const id = await createProject(service, cast.admin.token, { goal: 'Help' });
    const page = await openConsole(visitor, cast.admin.token, `/projects/${id}/recording`);
    const meaning = page.getByRole('region', { name: 'What this means' });
    await meaning.getByText('Nobody can read what was asked or answered.').waitFor();
    await page.getByLabel('With prompts and answers').check();
    await meaning.getByText('Nothing is masked').waitFor();
    await page.getByLabel('E-mail addresses').check();
    await page.getByLabel('Secrets').check();
    await page.getByLabel('E-mail addresses').uncheck();
    await meaning.getByText('Names, addresses and what people tell of themselves stay readable.').waitFor();
    await page.getByLabel('Share of the calls, in percent').fill('');
    expect(await page.getByLabel('Share of the calls, in percent').inputValue()).toBe('');
    await page.getByLabel('Share of the calls, in percent').fill('7');
    await page.getByLabel('Days', { exact: true }).fill('400');
    await press(page, 'Add a pattern');
    await page.getByLabel('Name of pattern 1').fill('Customer');
    await page.getByLabel('Pattern 1', { exact: true }).fill('(?=a)');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await press(page, 'Save');
    await shown(page, 'must be a whole number from 1 to 365');
    await shown(page, /must have 1 to 30 small letters/);
    for (const label of ['Days', 'Name of pattern 1'])
      expect(await page.getByLabel(label, { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Days', { exact: true }).fill('9');
    await page.getByLabel('Name of pattern 1').fill('customer');
    await press(page, 'Save');
    await page.locator('input[data-path="spec.record.mask.1.pattern"][aria-invalid="true"]').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await page.getByLabel('Pattern 1', { exact: true }).fill('CUST-[0-9]{6}');
    await press(page, 'Save');
    await shown(page, 'Version 2 is saved.');
    const mask = ['secret', { name: 'customer', pattern: 'CUST-[0-9]{6}' }];
    expect(await specOf(id)).toEqual({ goal: 'Help', record: { content: 'full', days: 9, share: 0.07, mask } });
    await meaning.getByText('7 % of the calls').waitFor();
    await press(page, 'Remove pattern 1');
    await page.getByLabel('Figures only').check();
    await press(page, 'Save');
    await shown(page, 'Version 3 is saved.');
  });

  it('is a part of the specification: it shares unsaved changes, and conflicts are shown', async () => {
    const id = await createProject(service, cast.admin.token, { goal: 'Help' });
    const page = await openConsole(visitor, cast.admin.token, `/projects/${id}`);
    await page.getByLabel('Goal').fill('Help more');
    await page.getByRole('link', { name: 'Recording' }).click();
    await shown(page, 'has other changes that are not saved');
    await page.getByLabel('With prompts and answers').check();
    await save(id, { task: 'chat' });
    await press(page, 'Save');
    await page.getByRole('region', { name: 'Stale version' }).waitFor();
    expect(await specOf(id)).toEqual({ goal: 'Help', task: 'chat' });
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await press(page, 'Overwrite with mine');
    await shown(page, 'Version 3 is saved.');
    expect(await specOf(id)).toEqual({ goal: 'Help more', record: { content: 'full' } });
    const member = await openConsole(visitor, cast.member.token, `/projects/${id}/recording`);
    await member.getByRole('radio', { name: 'With prompts and answers' }).waitFor();
    expect(await member.getByRole('radio', { name: 'Figures only' }).isDisabled()).toBe(true);
    expect(await member.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await shortcomingsInEveryLook(member)).toEqual([]);
  });

  it('lets answers of the playground be judged and become records', async () => {
    await record({ content: 'full' });
    const page = await openConsole(visitor, cast.admin.token, `/playground?project=${project}`);
    await answered(page, 'What is the capital of France?');
    await press(page, 'Good answer');
    await page.locator('[aria-label="Good answer"][aria-pressed="true"]').waitFor();
    await press(page, 'Say more');
    await page.getByRole('dialog').getByLabel('Comment').fill('Right.');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await press(page, 'Save the feedback');
    await shown(page, 'Your feedback is saved.');
    await press(page, 'Bad answer');
    await page.locator('[aria-label="Bad answer"][aria-pressed="true"]').waitFor();
    const { calls } = await read(`/projects/${project}/calls`);
    const { feedback } = await read(`/projects/${project}/calls/${calls[0].id}`);
    expect(feedback).toMatchObject([
      { score: -1, comment: 'Right.', is_current: true },
      { score: 1, comment: 'Right.', is_current: false },
      { score: 1, comment: null, is_current: false },
    ]);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await answered(page, 'And of Peru?');
    for (const which of ['first', 'last'] as const) {
      await page.getByRole('button', { name: 'Add to a dataset' })[which]().click();
      if (which === 'first') await page.getByLabel('Name of the new dataset').fill('Played');
      await press(page, 'Add the record');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect((await datasetOf('Played')).records).toMatchObject([
      { input: 'What is the capital of France?', expected: 'The capital of France is Paris.' },
      { input: [{ role: 'user' }, { role: 'assistant' }, { role: 'user', content: 'And of Peru?' }] },
    ]);
    expect((await datasetOf('Played')).records[0].origin).toMatchObject({ call_id: calls[0].answer_id });
  });

  it('says in the playground that a call is not kept', async () => {
    await record({ share: 0 });
    // All answers of a scripted engine have the same id, and so those of the other tests.
    await query(service.databaseUrl as string, 'TRUNCATE calls CASCADE');
    engine.script = speaking('Not kept.');
    const page = await openConsole(visitor, cast.member.token, `/playground?project=${project}`);
    await answered(page, 'Do you keep this?');
    await press(page, 'Bad answer');
    await shown(page, 'This call is not kept, so it takes no feedback.');
    expect(await page.getByRole('button', { name: 'Add to a dataset' }).count()).toBe(0);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await page.getByRole('link', { name: 'Recording', exact: true }).click();
    await at(page, `/projects/${project}/recording`);
  });

  it('lets a call be tried again in the playground', async () => {
    await record({ content: 'full' });
    const turns = [
      ['system', 'Be rude.'],
      ['user', 'Hello'],
      ['assistant', 'Go away.'],
      ['user', 'Why?'],
    ];
    const messages = turns.map(([role, content]) => ({ role, content }));
    const body = { model: project, messages, temperature: 0.4, max_tokens: 9 };
    await service.post('/openai/v1/chat/completions', cast.admin.token, body);
    const calls = `/projects/${project}/calls`;
    await until('the call is kept', async () => (await read(calls)).calls[0]?.request?.messages?.length === 4);
    const { id } = (await read(calls)).calls[0];
    const page = await openConsole(visitor, cast.admin.token, `${calls}/${id}`);
    await page.getByRole('link', { name: 'Open in the playground' }).click();
    await page.getByRole('article', { name: 'Answer' }).getByText('Go away.').waitFor();
    await at(page, /^\/playground\?project=prj_[\w-]+(?!.*call=)/);
    expect(await page.getByLabel('Your question').inputValue()).toBe('Why?');
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Be rude.');
    engine.asked.length = 0;
    await answered(page, 'Why?');
    expect(engine.asked[0]?.body).toMatchObject({ messages, temperature: 0.4, max_tokens: 9 });
  });

  it('lets the row of an evaluation become a record, also with the output of the model', async () => {
    const { token } = cast.admin;
    const dataset_id = await frozenDataset(service, token, project, records(2));
    const { body } = await service.post('/v1/jobs', token, { kind: 'evaluation', project_id: project, dataset_id });
    await ended(service, token, body.id);
    const page = await openConsole(visitor, token, `/evaluations/${body.id}`);
    await press(page, 'Add r2 to a dataset');
    await page.getByLabel('Dataset', { exact: true }).selectOption({ label: 'A new dataset' });
    await page.getByLabel('Name of the new dataset').fill('Hard ones');
    await page.getByLabel('Expected value').selectOption({ label: 'The output of the model' });
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await wide(page);
    await press(page, 'Add the record');
    await shown(page, /is added to Hard ones, version 2\./);
    const { records: added } = await datasetOf('Hard ones');
    expect(added).toMatchObject([{ input: 'question 2', group: 'even', expected: 'The capital of France is Paris.' }]);
    expect(added[0].origin).toMatchObject({ job_id: body.id, record_id: 'r2', model_id: expect.any(String) });
  });
});
