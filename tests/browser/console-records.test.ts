import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { type Cast, castOf } from '../support/monitoring.js';
import { Service } from '../support/service.js';
import { createProject } from '../support/workspace.js';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

describeInBrowser('a dataset of more records than one page in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let cast: Cast;
  let dataset: string;

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '4', SERVICE_DATASET_RECORDS: '1000' } });
    visitor = await Visitor.start(service.url);
    cast = await castOf(service);
    const datasets = `/projects/${await createProject(service, cast.admin.token)}/datasets`;
    const records = Array.from({ length: 600 }, (_, n) => ({ id: `r${n}`, input: `Question ${n}`, expected: `${n}` }));
    const { body } = await service.post(`/v1${datasets}`, cast.admin.token, { name: 'Large', records });
    dataset = `${datasets}/${body.id}`;
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
  );

  const stored = async (path = '') => (await service.get(`/v1${dataset}${path}`, cast.admin.token)).body;

  it('is listed in pages and searched by the service, and each change is a version', async () => {
    const page = await openConsole(visitor, cast.developer.token, dataset);
    await shown(page, '500 records so far');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, /more/i);
    await shown(page, '600 records in all');
    await page.getByLabel('Find records').fill('question 599');
    await shown(page, '1 record in all');
    await press(page, 'r599');
    await page.getByLabel('expected', { exact: true }).fill('changed');
    let load = () => {};
    const loads = new Promise<void>((resolve) => (load = resolve));
    await page.route(`**${dataset}`, (route) => loads.then(() => route.continue()));
    await press(page, 'Done');
    await press(page, 'r599');
    const record = page.getByRole('dialog', { name: 'Record r599' });
    await record.waitFor();
    // Until the new version is loaded, records can only be read.
    expect(await record.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    load();
    await shown(page, 'Version 2 is saved.');
    expect((await stored('/records?q=599')).records).toMatchObject([{ id: 'r599', expected: 'changed' }]);
    await press(page, 'r599');
    await press(page, /^Delete$/);
    await shown(page, 'Version 3 is saved.');
    await shown(page, 'No record fits');
    await press(page, 'Add a record');
    await page.getByLabel('id', { exact: true }).fill('new');
    await page.getByLabel('input', { exact: true }).fill('Question 599 again');
    await page.getByLabel('expected', { exact: true }).fill('599');
    await press(page, 'Done');
    await shown(page, 'Version 4 is saved.');
    expect(await stored()).toMatchObject({ version: 4, record_count: 600 });
  });

  it('is loaded again if somebody else has changed it, and then takes the change', async () => {
    const page = await openConsole(visitor, cast.developer.token, dataset);
    await shown(page, '500 records so far');
    await press(page, /^r1$/);
    await page.getByLabel('expected', { exact: true }).fill('mine');
    const { version } = await stored();
    const other = { version, group: 'theirs' };
    await service.call('PATCH', `/v1${dataset}/records/r1`, { token: cast.admin.token, json: other });
    await press(page, 'Done');
    await shown(page, 'Somebody else has changed the dataset.');
    await press(page, 'Done');
    await shown(page, `Version ${version + 2} is saved.`);
    expect((await stored('/records?limit=2')).records[1]).toMatchObject({ expected: 'mine', group: 'theirs' });
  });

  it('is exported as a file', async () => {
    const page = await openConsole(visitor, cast.member.token, dataset);
    const { version } = await stored();
    for (const [title, format] of [
      ['JSON Lines', 'jsonl'],
      ['CSV', 'csv'],
    ] as const) {
      await press(page, 'Export');
      if (format === 'jsonl') expect(await shortcomingsInEveryLook(page)).toEqual([]);
      const saved = page.waitForEvent('download');
      await press(page, title);
      const file = await saved;
      expect(file.suggestedFilename()).toBe(`Large-${version}.${format}`);
      const text = await readFile(await file.path(), 'utf8');
      expect(text).toBe(await stored(`/export?format=${format}`));
    }
  });

  it('of an earlier version, and for a member, is only read', async () => {
    const page = await openConsole(visitor, cast.member.token, `${dataset}?version=1`);
    await shown(page, 'This is version 1');
    await shown(page, '500 records so far');
    await press(page, 'r0');
    await shown(page, 'Question 0');
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  });
});
