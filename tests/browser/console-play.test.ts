import type { Locator, Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, openConsole, shortcomingsInEveryLook, WIDTHS } from '../support/console.js';
import { answering, chunk, ScriptedEngine, sendEvents, speaking, streaming } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { createProject, type Member, readyProject, register } from '../support/workspace.js';

const PARIS = 'The capital of France is Paris.';
const question = (page: Page) => page.getByLabel('Your question');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const answers = (page: Page) => page.getByRole('article', { name: 'Answer' });
const parameter = async (page: Page, name: string) =>
  new URLSearchParams((await at(page, /\?/)).split('?')[1]).get(name);

/** Waits until no answer is being received. A whole answer is stored then. */
const ended = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).waitFor();

async function ask(page: Page, text: string): Promise<void> {
  await question(page).fill(text);
  await ended(page);
  await question(page).press('Enter');
}

describeInBrowser('the playground', () => {
  let service: Service;
  let visitor: Visitor;
  let engine: ScriptedEngine;
  let ada: Member;
  let capitals: string;
  let scripted: string;
  /** The spec of a model whose answers the test scripts. */
  let spec: object;
  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    service = await Service.start({ env: { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host } });
    visitor = await Visitor.start(service.url);
    ada = await register(service, 'Ada');
    spec = { runtime: 'openai', base_url: engine.url, model: 'gpt' };
    [capitals, scripted] = [await readyProject(service, ada.token), await readyProject(service, ada.token, spec)];
  });
  beforeEach(() => {
    engine.script = speaking();
    engine.asked.length = 0;
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => engine?.close(),
  );

  const open = (parameters: string) => openConsole(visitor, ada.token, `/playground?${parameters}`);
  const conversations = async (project: string) =>
    (await service.get(`/v1/projects/${project}/conversations`, ada.token)).body.conversations;

  it('streams an answer with figures, regenerates it, edits the question, and continues a conversation', async () => {
    const page = await open(`project=${capitals}`);
    await ask(page, 'What is the capital of France?');
    await answers(page).getByText(PARIS).waitFor();
    await answers(page)
      .getByText(/^9 tokens · .*first after .* in all · prompt of \d+/)
      .waitFor();
    const first = await parameter(page, 'conversation');
    await press(page, 'Regenerate');
    await at(page, new RegExp(`conversation=(?!${first})cnv_`));
    await press(page, 'Edit');
    await page.getByLabel('Edit the question').fill('What is the capital of Italy?');
    await page.keyboard.press('Enter');
    await answers(page).getByText('The capital of Italy is Rome.').waitFor();
    await ask(page, 'What is the capital of Spain?');
    await answers(page).getByText('The capital of Spain is Madrid.').waitFor();
    await press(page, 'Conversations');
    await page.getByText('4 messages').waitFor();
    expect(await conversations(capitals)).toMatchObject([{ title: 'What is the capital of Italy?', message_count: 4 }]);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    await page.setViewportSize({ width: 1280, height: 740 });
    const lists: string[] = [];
    page.on('request', (request) => /conversations\?/.test(request.url()) && lists.push(request.url()));
    await page.reload();
    await answers(page).getByText('The capital of Spain is Madrid.').waitFor();
    await page.getByText('4 messages').waitFor();
    expect(lists).toHaveLength(1);
    await ask(page, 'What is the capital of Japan?');
    await page.getByText('6 messages').waitFor();
    await page.setViewportSize({ width: 390, height: 740 });
    await page.getByRole('link', { name: /^What is the capital of Italy/ }).click(); // This closes the list.
    await answers(page).getByText('The capital of Spain is Madrid.').waitFor();
    await page.setViewportSize({ width: 1280, height: 740 });
    await press(page, 'Conversations');
    await page.getByRole('button', { name: 'Delete What is the capital of Italy?' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No conversation yet').waitFor();
    expect([await answers(page).count(), await parameter(page, 'conversation')]).toEqual([0, null]);
  });

  it('stops with Escape, shows the messages of failures, and asks a busy model again by itself', async () => {
    const page = await open(`project=${scripted}`);
    const begun = [chunk('gpt', { role: 'assistant', content: '' }), chunk('gpt', { content: '**Once** upon' })];
    engine.script = (_, response) => sendEvents(response, ...begun);
    await ask(page, 'Tell me a story');
    await answers(page).getByText('Once').and(page.locator('strong')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('You stopped this answer.').waitFor();
    expect(await conversations(scripted)).toEqual([]);

    engine.script = streaming(...begun);
    await ask(page, 'And then?');
    await page.getByRole('alert').getByText('The runtime gave no valid answer').waitFor();
    engine.script = answering(429, {}, { 'Retry-After': '1' });
    await press(page, 'Try again');
    await page.getByText('The model is busy: try again in 1 s. Asking again in 1 s.').waitFor();
    engine.script = speaking();
    await answers(page).getByText(PARIS).waitFor();
    await ended(page);
    expect(await conversations(scripted)).toMatchObject([{ title: 'Tell me a story', message_count: 4 }]);
    expect(engine.asked.at(-1)?.body.messages.map(({ content }: { content: string }) => content)).toEqual([
      'Tell me a story',
      '**Once** upon',
      'And then?',
    ]);

    const gone = (await parameter(page, 'conversation'))?.replace(/.{12}$/, '000000000000');
    await page.evaluate(`location.hash = '/playground?project=${scripted}&conversation=${gone}'`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await ask(page, 'What is the capital of France?');
    await answers(page).getByText(PARIS).waitFor();
  });

  it('checks a JSON schema, sends it with the question, and shows exactly this request as code', async () => {
    const page = await open(`project=${capitals}`);
    await page.getByLabel('Temperature').fill('3');
    await ask(page, 'What is the capital of France?');
    await page.getByText('must be a number from 0 to 2').first().waitFor();
    expect(await page.getByLabel('Temperature').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Temperature').fill('0.1');
    await page.getByLabel('System prompt').fill('Be short.');
    await page.getByLabel('Response format').selectOption('JSON schema');
    await page.getByLabel('JSON schema').fill('{"type": "object"');
    await page.getByText('This is not JSON').waitFor();
    const schema = { type: 'object', properties: { city: { enum: ['Paris'] } }, required: ['city'] };
    await page.getByLabel('JSON schema').fill(JSON.stringify({ ...schema, additionalProperties: false }));
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    await page.reload();
    expect(await question(page).inputValue()).toBe('What is the capital of France?');
    await question(page).press('Enter');
    await answers(page)
      .getByText(/^{\s*"city":\s*"Paris"\s*}$/)
      .waitFor();
    await press(page, 'Format JSON');
    expect(await answers(page).locator('pre').textContent()).toBe('{\n  "city": "Paris"\n}');

    await press(page, 'View code');
    const program = page.getByRole('dialog').locator('pre');
    await page.getByRole('button', { name: 'openai (JavaScript)' }).click();
    expect(await program.textContent()).toMatch(/temperature: 0\.1,[\s\S]*json_schema: {[\s\S]*stream: true/);
    await press(page, 'curl');
    expect(await program.textContent()).toContain(`curl -N ${service.url}/openai/v1/chat/completions`);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('asks two projects side by side, and restores both chats from the address', async () => {
    const page = await open(`project=${capitals}&panel=none`);
    await press(page, 'Compare');
    await ask(page, 'What is the capital of France?');
    const columns = ['First project', 'Second project'].map((name) => page.getByRole('region', { name, exact: true }));
    const answer = (column: Locator) => column.getByRole('article').getByText(PARIS).waitFor();
    for (const column of columns) await answer(column);
    await at(page, /conversation=cnv_.*conversation=cnv_/);
    expect(await parameter(page, 'beside')).toBe(scripted);
    await page.reload();
    for (const column of columns) await answer(column);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await columns[0]?.getByRole('button', { name: 'Close this chat' }).click();
    await columns[1]?.waitFor({ state: 'detached' });
    expect([await parameter(page, 'project'), await parameter(page, 'beside')]).toEqual([scripted, null]);
  });

  it('gives each column its own version, prompt and limits, and asks all of them the same', async () => {
    const id = await readyProject(service, ada.token, spec);
    const save = (version: number, changed: object) =>
      service.put(`/v1/projects/${id}`, ada.token, { version, spec: changed });
    await save(1, { system_prompt: 'One' });
    await save(2, { system_prompt: 'Two', sampling: { temperature: 0.7 } });
    const page = await open(`project=${id}`);
    const column = (name: string) => page.getByRole('region', { name: `${name} project`, exact: true });
    const choose = (name: string) =>
      column(name)
        .getByRole('combobox', { name: `${name} project`, exact: true })
        .selectOption(id);
    await press(page, 'Compare');
    await choose('Second');
    await press(page, 'Settings of second project');
    await page.getByLabel('Version of the specification').selectOption('2');
    await page.getByText('The prompt of version 2.').waitFor();
    await page.getByLabel('Temperature').fill('0.2');
    await page.getByLabel('Max tokens').fill('9');
    await press(page, 'Add a column');
    await choose('Third');
    await press(page, 'Settings of third project');
    await page.getByText('The prompt of the project.').waitFor();
    await page.getByLabel('System prompt').fill('Three');
    await ask(page, 'What is the capital of France?');
    await at(page, /(conversation=cnv_.*){3}/);
    const sent = engine.asked.map(({ body }) => [body.messages[0].content, body.temperature, body.max_tokens]);
    expect(sent.sort()).toEqual([
      ['One', 0.2, 9],
      ['Three', 0.7, undefined],
      ['Two', 0.7, undefined],
    ]);
    expect(new Set(engine.asked.map(({ body }) => body.messages[1].content)).size).toBe(1);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });

    await page.reload();
    for (const name of ['First', 'Second', 'Third']) await column(name).getByText(PARIS).waitFor();
    await column('First').getByText('Newest version · temperature 0.7').waitFor();
    await column('Third').getByText('Newest version · own prompt · temperature 0.7').waitFor();
    await column('Second').getByText('Version 2 · temperature 0.2 · at most 9 tokens').waitFor();
    await column('Second').getByRole('button', { name: 'View code' }).click();
    await press(page, 'openai (Python)');
    expect(await page.getByRole('dialog').locator('pre').textContent()).toMatch(
      /"content": "One"[\s\S]* max_tokens=9,/,
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await column('Second').getByRole('button', { name: 'Close this chat' }).click();
    await column('Second').getByText('Newest version · own prompt').waitFor();
    expect([await parameter(page, 'beside'), await parameter(page, 'third')]).toEqual([id, null]);
  });

  it('saves the prompt of a column as a new version, and shows a conflict with another version', async () => {
    const id = await createProject(service, ada.token, { goal: 'Help' });
    const project = async () => (await service.get(`/v1/projects/${id}`, ada.token)).body;
    /** The goal that a colleague saves right before the next save of the page arrives. */
    let meanwhile: string | null = null;
    const page = await open(`project=${id}`);
    const save = () => press(page, 'Save as the project’s prompt');
    await page.route(`**/v1/projects/${id}`, async (route) => {
      if (route.request().method() === 'PUT' && meanwhile !== null) {
        const change = { version: (await project()).version, spec: { goal: meanwhile } };
        meanwhile = null;
        await service.put(`/v1/projects/${id}`, ada.token, change);
      }
      await route.continue();
    });
    await page.getByText('The newest, version 1').waitFor({ state: 'attached' });
    expect(await page.getByRole('button', { name: 'Save as the project’s prompt' }).count()).toBe(0);
    await page.getByLabel('System prompt').fill('Be short.');
    await page.getByLabel('Temperature').fill('0.3');
    await save();
    await page.getByText('"temperature": 0.3').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    await press(page, 'Save as version 2');
    await page.getByText('Version 2 of Capitals has the prompt of this column.').waitFor();
    await page.getByText('The prompt of the project.').waitFor();
    expect(await project()).toMatchObject({
      version: 2,
      spec: { goal: 'Help', system_prompt: 'Be short.', sampling: { temperature: 0.3 } },
    });
    expect(await page.getByLabel('Temperature').inputValue()).toBe('');

    await page.getByLabel('System prompt').fill('Be long.');
    await save();
    meanwhile = 'Theirs';
    await press(page, 'Save as version 3');
    await page.getByRole('region', { name: 'Stale version' }).getByText('"goal": "Theirs"').first().waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 740 });
    await press(page, 'Take theirs');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('System prompt').inputValue()).toBe('Be long.');
    expect(await project()).toMatchObject({ version: 3, spec: { goal: 'Theirs' } });
    await save();
    meanwhile = 'Theirs again';
    await press(page, 'Save as version 4');
    await press(page, 'Overwrite with mine');
    await page.getByText('Version 5 of Capitals has the prompt of this column.').waitFor();
    expect((await project()).spec).toEqual({
      goal: 'Theirs',
      system_prompt: 'Be long.',
    });
  });

  it('leaves the other columns at their version when one is saved', async () => {
    const id = await createProject(service, ada.token, { system_prompt: 'One' });
    const page = await open(`project=${id}&beside=${id}`);
    const column = (name: string) => page.getByRole('region', { name: `${name} project`, exact: true });
    await press(page, 'Settings of second project');
    await page.getByText('The prompt of the project.').waitFor();
    await page.getByLabel('System prompt').fill('Two');
    await press(page, 'Save as the project’s prompt');
    await press(page, 'Save as version 2');
    await column('Second').getByText('Newest version').waitFor();
    await column('First').getByText('Version 1').waitFor();
    expect([await parameter(page, 'version'), await parameter(page, 'beside_version')]).toEqual(['1', null]);
  });

  it('keeps the input in the window while a note stands above the page', async () => {
    const page = await open(`project=${capitals}&panel=none`);
    await page.getByRole('region', { name: 'Unverified account' }).waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 740 });
      const box = await page.getByRole('button', { name: 'Send', exact: true }).boundingBox();
      expect({ width, isSeen: (box?.y ?? 740) + (box?.height ?? 0) <= 740 }).toEqual({ width, isSeen: true });
    }
  });

  it('keeps the chosen project if the address changes again at once', async () => {
    const page = await open(`project=${capitals}`);
    await page.getByRole('combobox', { name: 'Project', exact: true }).waitFor();
    // Both in one task, since the end of an answer can change the address as early.
    await page.evaluate(`
      const project = document.querySelector('select[aria-label="Project"]');
      project.value = '${scripted}';
      project.dispatchEvent(new Event('input', { bubbles: true }));
      [...document.querySelectorAll('button')].find((one) => one.textContent === 'Conversations').click();
    `);
    await at(page, /panel=conversations/);
    expect(await parameter(page, 'project')).toBe(scripted);
    await page.goBack();
    await at(page, new RegExp(`project=${capitals}`));
  });

  it('shows the tokens, times and runtime of the job of a chat, and why it failed', async () => {
    const chat = (stream: boolean) => {
      const json = { model: scripted, stream, messages: [{ role: 'user', content: 'Hi' }] };
      return service.post('/openai/v1/chat/completions', ada.token, json);
    };
    const job = async () => (await service.get('/v1/jobs?kind=chat&limit=1', ada.token)).body.jobs[0];
    await chat(true);
    const page = await openConsole(visitor, ada.token, `/jobs/${(await job()).id}`);
    const fact = (panel: string, name: string) =>
      page.getByRole('region', { name: panel, exact: true }).locator(`dt:text-is("${name}") + dd`).textContent();
    await page.getByRole('heading', { name: 'Call', exact: true }).waitFor();
    expect([await fact('Call', 'Tokens in'), await fact('Call', 'Tokens out')]).toEqual(['7', '6']);
    const { time_to_first_token: first } = (await job()).usage;
    expect(first).toEqual(expect.any(Number));
    expect(await fact('Call', 'First token')).toMatch(/^after [\d.]+ m?s$/);
    for (const name of ['In the queue', 'Duration', 'In all'])
      expect(await fact('Times', name)).toMatch(/^[\d.]+ m?s$/);
    await page.getByText(`openai, gpt at ${engine.url}`).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    engine.script = answering(500, {});
    await chat(false);
    await page.goto(`${service.url}/#/jobs/${(await job()).id}`);
    await page.getByText(/^runtime_[a-z_]+: /).waitFor();
    await page.getByText('No tokens were reported.').waitFor();
  });

  it('says that a runtime is stopped, and starts it if the role allows this', async () => {
    await service.post(`/v1/projects/${scripted}/runtime/stop`, ada.token);
    const empty = await createProject(service, ada.token);
    const bob = await register(service, 'Bob');
    const member = await openConsole(visitor, bob.token, `/playground?project=${scripted}`);
    await member.getByText('The runtime is stopped. An admin or a developer can start it.').waitFor();
    expect(await member.getByRole('button', { name: 'Start the runtime' }).count()).toBe(0);
    await member.getByLabel('System prompt').fill('Be short.');
    await member.getByText('Differs from the prompt of the project.').waitFor();
    expect(await member.getByRole('button', { name: 'Save as the project’s prompt' }).count()).toBe(0);
    const page = await open(`project=${scripted}`);
    await page.getByText('The runtime is stopped.').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Start the runtime');
    await page.getByText('The runtime is stopped.').waitFor({ state: 'detached' });
    await ask(page, 'What is the capital of France?');
    await answers(page).getByText(PARIS).waitFor();
    const choice = page.getByRole('combobox', { name: 'Project', exact: true });
    const group = (name: string) => choice.locator(`optgroup[label="${name}"]`);
    await group('Can answer').locator(`option[value="${scripted}"]`).waitFor({ state: 'attached' });
    const words = await group('Cannot answer now').locator(`option[value="${empty}"]`).textContent();
    expect(words).toBe(`Capitals · ${empty.slice(-6)} (not connected)`);
    await choice.selectOption(empty);
    await page.getByRole('link', { name: 'Connect a model' }).click();
    await at(page, `/projects/${empty}`);
    await page.locator('#runtime:focus').waitFor();
  });
});
