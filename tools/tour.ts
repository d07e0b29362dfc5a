/**
 * Takes the pictures for the README, docs/images/console-*.png. Starts the real service, runs the steps of the demo,
 * and opens the console in Chromium. `CHROMIUM` names another browser.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { Client } from './demo/client.js';
import { DemoService } from './demo/service.js';
import { ADA, QUESTION, walk } from './demo/walk.js';

const FOLDER = join(__dirname, '../../docs/images');
const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'];
const SIZE = { width: 1280, height: 800 };
/** The calls take four minutes, so that the charts of the overview have values. */
const CALLS = 60;
const EVERY_MS = 4_000;
const QUESTIONS = [QUESTION, 'What is 7 + 5?', 'What is the capital of Japan?'];

async function main(): Promise<void> {
  const service = new DemoService();
  const { signal } = new AbortController();
  await walk(service, signal);
  const { url } = service;
  const client = new Client(url, signal);
  const { email, password } = ADA;
  const { token: as } = (await client.call('POST /v1/auth/login', { body: { email, password } }, 200, {})).body;
  const project = (await client.call('GET /v1/projects', { as }, 200, {})).body.projects[0].id;
  const evaluation = (await client.call('GET /v1/jobs?kind=evaluation', { as }, 200, {})).body.jobs[0].id;
  for (let turn = 0; turn < CALLS; turn++) {
    const messages = [{ role: 'user', content: QUESTIONS[turn % QUESTIONS.length] }];
    const streamed = { model: project, messages, stream: true };
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${as}` };
    const body = JSON.stringify(streamed);
    await (await fetch(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, body })).text();
    await delay(EVERY_MS);
  }
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path)),
    args: ['--no-sandbox'],
  });
  const page = await browser.newPage({ viewport: SIZE });
  await page.goto(`${url}/auth`);
  await page.evaluate(`sessionStorage.setItem('tenon.session', ${JSON.stringify(as)})`);
  mkdirSync(FOLDER, { recursive: true });
  const picture = async (name: string, place: string, act: () => Promise<unknown> = async () => {}) => {
    await page.goto(`${url}/#${place}`);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    await act();
    await page.screenshot({ path: join(FOLDER, `console-${name}.png`) });
    console.log(`docs/images/console-${name}.png`);
  };
  await picture('playground', `/playground?project=${project}`, async () => {
    await page.getByLabel('Your question').fill(QUESTION);
    await page.keyboard.press('Enter');
    await page.getByText('tokens/s').waitFor();
  });
  await picture('project', `/projects/${project}`, () => page.getByLabel('Goal').waitFor());
  await picture('evaluation', `/evaluations/${evaluation}`, () => page.locator('main table').first().waitFor());
  await picture('overview', '/', () => page.locator('main svg[role=img]').nth(3).waitFor());
  await browser.close();
  await service.stop();
  service.remove();
}

void main();
