import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { query } from '../support/database.js';
import { type Cast, castOf } from '../support/monitoring.js';
import { answering, ScriptedEngine, speaking } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { readyProject } from '../support/workspace.js';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const rows = (page: Page) => page.getByRole('group', { name: 'Calls' }).locator('tbody tr');
const CHATS = '/openai/v1/chat/completions';
const user = (content: string) => [{ role: 'user', content }];

describeInBrowser('calls in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let engine: ScriptedEngine;
  let cast: Cast;
  let project: string;
  let calls: string;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    const env = { SERVICE_MAX_ACCOUNTS: '9', SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
    service = await Service.start({ env: { ...env, SERVICE_RATE_LIMIT_PER_MIN: '2000' } });
    visitor = await Visitor.start(service.url);
    cast = await castOf(service);
    const prices = { input: 0, output: 0, per_call: 0.1 };
    const model = { runtime: 'openai', base_url: engine.url, model: 'any', prices };
    project = await readyProject(service, cast.admin.token, model);
    calls = `/projects/${project}/calls`;
  });
  beforeEach(async () => {
    engine.script = speaking();
    await record({ content: 'full', mask: ['email'] });
  });
  afterEach(() => query(service.databaseUrl as string, 'TRUNCATE calls CASCADE'));
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => engine?.close(),
  );

  const read = async (path: string) => (await service.get(`/v1${path}`, cast.admin.token)).body;
  const post = async (path: string, json: object, token = cast.admin.token) => {
    const { status, body } = await service.post(path, token, json);
    expect(status).toBeLessThan(300);
    return body;
  };
  /** Saves what the project keeps, and waits until its runtime knows. */
  const record = async (settings: object) => {
    const { version, spec } = await read(`/projects/${project}`);
    if (JSON.stringify(spec.record) === JSON.stringify(settings)) return;
    const changed = { version, spec: { ...spec, record: settings } };
    expect((await service.put(`/v1/projects/${project}`, cast.admin.token, changed)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  };
  /** Asks, and returns the id of the kept call. */
  const chat = async (messages: object[], { more = {}, token = cast.admin.token } = {}): Promise<string> => {
    const { count } = await read(calls);
    await service.post(CHATS, token, { model: project, messages, ...more });
    await until('the call is kept', async () => (await read(calls)).count > count);
    return (await read(calls)).calls[0].id;
  };

  it('are listed with filters, which the address keeps, page by page, and exported', async () => {
    const bad = await chat(user('Where is my parcel?'));
    await post(`/v1/calls/${bad}/feedback`, { score: -1, label: 'wrong' });
    engine.script = answering(500, {});
    await chat(user('Will this fail?'));
    engine.script = speaking();
    await chat(user('When do you open?'), { token: cast.member.apiKey });
    const page = await openConsole(visitor, cast.admin.token, calls);
    await shown(page, 'All calls are kept for 30 days, with their content.');
    const texts = async () =>
      (await rows(page).allTextContents()).map((text) => text.replace(/\d+ s ago|just now/, ' '));
    expect(await texts()).toEqual([
      expect.stringMatching(/^When do you open\? any · \w+Miasucceeded7 → 60\.1 USD.*–$/),
      expect.stringMatching(/^Will this fail\?.*Youfailed–/),
      expect.stringMatching(/^Where is my parcel\?.*Yousucceeded.*badwrong$/),
    ]);
    await page.getByLabel('Feedback', { exact: true }).selectOption({ label: 'Bad' });
    await until('one call is left', async () => (await rows(page).count()) === 1);
    await page.getByLabel('Status').selectOption('failed');
    await shown(page, 'No call fits these filters');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    await press(page, 'Show all calls');
    await page.getByText('More filters').click();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Who').selectOption({ label: 'Mia' });
    await page.getByLabel('Model').selectOption({ index: 1 });
    await page.getByLabel('From').fill('2020-01-01T00:00');
    await until('the call of Mia is left', async () => (await rows(page).count()) === 1);
    await page.reload();
    await shown(page, 'More filters (3 set)');
    await until('the call of Mia is left', async () => (await rows(page).count()) === 1);
    await press(page, 'Export');
    const saved = page.waitForEvent('download');
    await press(page, 'JSON Lines');
    const file = await readFile(await (await saved).path(), 'utf8');
    expect(file.trim().split('\n')).toHaveLength(1);
    expect(file).toContain('When do you open?');
    await page.goto(`${service.url}/#${calls}?label=wrong`);
    await until('the labelled call is left', async () => (await rows(page).count()) === 1);
    await page.getByLabel('Search the content').fill('nothing');
    await shown(page, 'No call fits these filters');
    await page.getByLabel('Search the content').fill('parcel');
    await until('the found call is left', async () => (await rows(page).count()) === 1);
    await at(page, /label=wrong&q=parcel/);
  });

  it('come in pages, and keep no content in the list', async () => {
    await chat(user('The first'));
    await query(
      service.databaseUrl as string,
      `INSERT INTO calls SELECT (json_populate_record(calls, json_build_object('id', 'job_' || gen_random_uuid(),
         'created_at', created_at - n * interval '1 second'))).* FROM calls, generate_series(1, 59) AS n`,
    );
    const page = await openConsole(visitor, cast.admin.token, calls);
    await until('the first page is there', async () => (await rows(page).count()) === 50);
    await press(page, 'Show more');
    await until('all calls are there', async () => (await rows(page).count()) === 60);
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
  });

  it('explain why there are none, and members see only their own', async () => {
    const page = await openConsole(visitor, cast.member.token, calls);
    await shown(page, 'None of your calls is kept yet');
    await shown(page, 'You see your own calls.');
    await chat(user('Of the admin'));
    const own = await chat(user('Of the member'), { token: cast.member.apiKey });
    await press(page, 'Refresh');
    await until('the own call is there', async () => (await rows(page).count()) === 1);
    await page.getByText('More filters').click();
    expect(await page.getByLabel('Who').count()).toBe(0);
    await page.getByRole('link', { name: 'Of the member' }).click();
    await at(page, `${calls}/${own}`);
    await page.getByRole('heading', { name: 'Prompt' }).waitFor();
    expect(await page.getByRole('button', { name: 'Add to a dataset' }).count()).toBe(0);
    await query(service.databaseUrl as string, 'TRUNCATE calls CASCADE');
    await record({ share: 0 });
    const off = await openConsole(visitor, cast.admin.token, calls);
    await shown(off, 'Recording is off');
    expect(await shortcomingsInEveryLook(off)).toEqual([]);
    await off.setViewportSize({ width: 1280, height: 740 });
    await off.getByRole('main').getByRole('link', { name: 'Change what is kept' }).last().click();
    await at(off, `/projects/${project}/recording`);
  });

  it('show prompt, tools, answer, times and figures, and can be deleted', async () => {
    const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } }];
    const asked = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"number":7}' } };
    const id = await chat(
      [
        { role: 'system', content: 'Be short.' },
        ...user('I am ada@example.com. Where is parcel 7?'),
        { role: 'assistant', content: null, tool_calls: [asked] },
        { role: 'tool', tool_call_id: 'call_1', content: '{"place":"Berlin"}' },
      ],
      { more: { tools, temperature: 0.5, stream: true } },
    );
    const page = await openConsole(visitor, cast.admin.token, `${calls}/${id}`);
    const panel = (name: string) => page.getByRole('region', { name, exact: true });
    await panel('Prompt').waitFor();
    const messages = await panel('Prompt').getByRole('listitem').allTextContents();
    expect(messages.slice(0, 4)).toEqual([
      'SystemBe short.',
      'UserI am [email]. Where is parcel 7?',
      expect.stringMatching(/^AssistantCalls find call_1{\s*"number": 7\s*}$/),
      'Tool answers the call call_1{"place":"Berlin"}',
    ]);
    await page.getByText('1 tool that the model could call').click();
    await page.getByText('Settings of the request').click();
    expect(await panel('Prompt').textContent()).toMatch(/temperature0\.5/);
    await panel('Answer').getByText('The capital of France is Paris.').waitFor();
    const times = await panel('Times').getByRole('listitem').allTextContents();
    expect(times.at(0)).toMatch(/^From the arrival to the start \d/);
    expect(times.at(-2)).toMatch(/^any · \w+: answered [\d.]+ m?s$/);
    expect(times.at(-1)).toMatch(/^Answer, from the first token on [\d.]+ m?s$/);
    await panel('Times')
      .getByText(/^First token after .*, end after /)
      .waitFor();
    expect(await panel('Call').textContent()).toMatch(
      /StatussucceededModelany.*BysessionTokens in7Tokens out6Cost0\.1 USD/,
    );
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    await page.getByRole('link', { name: 'chat job' }).click();
    await page.getByRole('link', { name: 'Open the kept call' }).click();
    await at(page, `${calls}/${id}`);
    await press(page, 'Delete the kept call');
    await press(page, 'Cancel');
    await press(page, 'Delete the kept call');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the kept call' }).click();
    await at(page, calls);
    await shown(page, 'No call is kept yet');
    await page.goto(`${service.url}/#${calls}/${id}`);
    await page.getByRole('alert').getByRole('link', { name: 'What the project keeps' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('tell why they have no content, or only its beginning', async () => {
    const [cut, none] = [await chat(user('One')), await chat(user('Two'))];
    const change = (id: string, set: string) =>
      query(service.databaseUrl as string, `UPDATE calls SET ${set} WHERE id = $1`, [id]);
    await change(cut, 'truncated = true');
    await change(none, `content = 'unmaskable', request = NULL, answer = NULL`);
    const page = await openConsole(visitor, cast.admin.token, `${calls}/${cut}`);
    await shown(page, 'because the prompt or the answer was too long');
    await page.goto(`${service.url}/#${calls}/${none}`);
    await shown(page, 'because they could not be masked in time');
    expect(await page.getByRole('button', { name: 'Add to a dataset' }).count()).toBe(0);
    await change(none, `content = 'none'`);
    await page.reload();
    await shown(page, 'The prompt and the answer of this call are not kept.');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('take feedback, whose history stays, and become records of datasets', async () => {
    const id = await chat(user('Where is my parcel?'));
    await post(`/v1/calls/${id}/feedback`, { score: 1, comment: 'Polite.' }, cast.developer.token);
    const page = await openConsole(visitor, cast.admin.token, `${calls}/${id}`);
    const feedback = page.getByRole('region', { name: 'Feedback', exact: true });
    await feedback.getByText('Polite.').waitFor();
    await press(page, 'Save the feedback');
    await feedback.getByRole('alert').waitFor();
    await press(page, 'Bad answer');
    await feedback.getByLabel('Label').fill('x');
    await press(page, 'Save the feedback');
    await shown(page, 'Your feedback is saved.');
    await press(page, 'Begin with the answer');
    await feedback.getByLabel('What the answer should have been').fill('In Berlin.');
    await press(page, 'Save the feedback');
    await page.getByText('Earlier feedback (1)').click();
    await feedback.getByRole('list', { name: 'Earlier feedback' }).getByText('bad').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    expect((await read(`${calls}/${id}`)).feedback).toMatchObject([
      { is_current: true, score: -1, label: 'x', correction: 'In Berlin.' },
      { is_current: false, score: -1, label: 'x', correction: null },
      { is_current: true, score: 1, comment: 'Polite.' },
    ]);

    await press(page, 'Add to a dataset');
    await page.getByLabel('Name of the new dataset').fill('Learned');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    await press(page, 'Add the record');
    await shown(page, `The record ${id} is added to Learned, version 2.`);
    await press(page, 'Add to a dataset');
    await press(page, 'Add the record');
    await shown(page, 'Learned has a record with this content already. Nothing is added.');
    await press(page, 'Add to a dataset');
    await page.getByLabel('Expected value').selectOption({ label: 'The answer of the call' });
    await press(page, 'Add the record');
    await shown(page, 'is added to Learned, version 3.');
    const { datasets } = await read(`/projects/${project}/datasets`);
    const dataset = await read(`/projects/${project}/datasets/${datasets[0].id}`);
    expect(dataset.records).toMatchObject([
      { input: 'Where is my parcel?', expected: 'In Berlin.', origin: { call_id: id } },
      { input: 'Where is my parcel?', expected: 'The capital of France is Paris.', origin: { call_id: id } },
    ]);
    await page.goto(`${service.url}/#/projects/${project}/datasets/${dataset.id}`);
    await press(page, id);
    await page.getByRole('dialog').getByRole('link', { name: 'a call' }).click();
    await at(page, `${calls}/${id}`);
  });

  it('are found in the palette', async () => {
    const page = await openConsole(visitor, cast.admin.token, '/');
    await press(page, /^Find Ctrl K$/);
    await page.getByRole('combobox').fill('calls capitals');
    await page.getByRole('option', { name: 'Calls of Capitals calls', exact: true }).click();
    await at(page, calls);
  });
});
