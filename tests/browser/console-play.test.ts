import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { ScriptedEngine, speaking } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { type Member, readyProject, register } from '../support/workspace.js';

const PARIS = 'The capital of France is Paris.';
const question = (page: Page) => page.getByLabel('Your question');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const answers = (page: Page) => page.getByRole('article', { name: 'Answer' });
const parameter = (page: Page, name: string) => new URLSearchParams(page.url().split('?')[1]).get(name);

async function ask(page: Page, text: string): Promise<void> {
  await question(page).fill(text);
  await question(page).press('Enter');
}

describeInBrowser('the playground', () => {
  let service: Service;
  let visitor: Visitor;
  let engine: ScriptedEngine;
  let ada: Member;
  let capitals: string;
  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    service = await Service.start({ env: { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host } });
    visitor = await Visitor.start(service.url);
    ada = await register(service, 'Ada');
    const spec = { runtime: 'openai', base_url: engine.url, model: 'gpt' };
    [capitals] = [await readyProject(service, ada.token), await readyProject(service, ada.token, spec)];
  });
  beforeEach(() => {
    engine.script = speaking();
    engine.asked.length = 0;
  });
  afterEach(async () => {
    await visitor.closePages();
    expect(visitor.complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await visitor?.stop();
    await service?.stop();
    await engine?.close();
  });

  const open = (parameters: string) => openConsole(visitor, ada.token, `/playground?${parameters}`);
  const conversations = async (project: string) =>
    (await service.get(`/v1/projects/${project}/conversations`, ada.token)).body.conversations;

  it('streams an answer with its figures, regenerates, edits, keeps the conversation and goes on with it', async () => {
    const page = await open(`project=${capitals}`);
    await ask(page, 'What is the capital of France?');
    await answers(page).getByText(PARIS).waitFor();
    await answers(page)
      .getByText(/^11 tokens · .*first after .* in all · prompt of \d+/)
      .waitFor();
    const first = parameter(page, 'conversation');
    await press(page, 'Regenerate');
    await page.waitForURL((url) => parameter(page, 'conversation') !== first && url.hash.includes('cnv_'));
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
    await page.reload();
    await answers(page).getByText('The capital of Spain is Madrid.').waitFor();
    await ask(page, 'What is the capital of Japan?');
    await page.getByText('6 messages').waitFor();
    await page.getByRole('button', { name: 'Delete What is the capital of Italy?' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No conversation yet').waitFor();
    expect([await answers(page).count(), parameter(page, 'conversation')]).toEqual([0, null]);
  });
});
