import type { Locator, Page } from 'playwright-core';
import { gate } from '../support/barrier.js';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, goBack, openConsole, shortcomingsInEveryLook, WIDTHS } from '../support/console.js';
import { answering, answerTo, type Evaluated, evaluatedProject, records } from '../support/evaluations.js';
import { sendJson } from '../support/local-server.js';
import { type Cast, castOf } from '../support/monitoring.js';
import { completion, ScriptedEngine } from '../support/scripted-engine.js';
import { Service } from '../support/service.js';
import { createProject } from '../support/workspace.js';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const gone = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor({ state: 'detached' });
const spec = { acceptance: { metric: 'contains', threshold: 0.8 } };

describeInBrowser('datasets and evaluations in the console', () => {
  let engine: ScriptedEngine;
  let service: Service;
  let visitor: Visitor;
  let cast: Cast;
  let evaluated: Evaluated;
  let project: string;
  const datasets = () => `/projects/${project}/datasets`;
  const stored = async (id: string) => (await service.get(`/v1${datasets()}/${id}`, cast.admin.token)).body;
  const idIn = async (page: Page) => /dst_[0-9a-f-]+/.exec(await at(page, /dst_/))?.[0] as string;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    engine.script = answering((number) => number <= 3);
    const env = { SERVICE_MAX_ACCOUNTS: '4', SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
    service = await Service.start({ env });
    visitor = await Visitor.start(service.url);
    cast = await castOf(service);
    project = await createProject(service, cast.admin.token);
    const model = { runtime: 'openai', base_url: engine.url, model: 'big-model' };
    evaluated = await evaluatedProject(service, cast.admin.token, { spec, model, rows: records(12) });
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => engine?.close(),
  );

  it('imports a file after its refused rows are corrected, and leads from each finding to its record', async () => {
    const page = await openConsole(visitor, cast.developer.token, datasets());
    await page.getByRole('button', { name: 'Import a dataset' }).waitFor();
    const csv =
      'id,group,input,expected\nfr,europe,France?,Paris\nit,europe,Italy?\nes,europe,Spain?,\nfr,,France again?,Paris\n';
    await page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([${JSON.stringify(csv)}], 'capitals.csv'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }`);
    await shown(page, 'capitals.csv');
    expect(await page.getByLabel('Name').inputValue()).toBe('capitals');
    await press(page, /^Import$/);
    await shown(page, 'row 2: has 3 columns, but the first line names 4');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Row 2').fill('it,europe,Italy?,Rome');
    await page.reload(); // The corrected text stays.
    await press(page, /^Import$/);
    await page.getByRole('heading', { name: 'capitals' }).waitFor();
    await shown(page, '2 findings');
    expect(await page.getByRole('button', { name: 'Freeze' }).isDisabled()).toBe(true);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    await page.getByRole('link', { name: /^row 3 \(id "es"\) has no expected/ }).click();
    await page.getByLabel('expected', { exact: true }).fill('Madrid');
    await press(page, 'Next');
    await page.getByLabel('id', { exact: true }).fill('fr-2');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Done');
    await page.reload(); // Changes that are not saved stay.
    await press(page, 'Save as version 2');
    await shown(page, 'Version 2 is saved.');
    const { records: rows } = await stored(await idIn(page));
    expect(rows.map(({ id, expected }: { id: string; expected: string }) => [id, expected])).toEqual([
      ['fr', 'Paris'],
      ['it', 'Rome'],
      ['es', 'Madrid'],
      ['fr-2', 'Paris'],
    ]);
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await shown(page, '1 added, 1 removed, 1 changed, 2 unchanged');
    await press(page, 'Freeze');
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click();
    await shown(page, 'capitals is frozen.');
    await press(page, 'Fork');
    await page.getByRole('heading', { name: 'capitals (fork)' }).waitFor();
    await press(page, 'Fork');
    await page.getByRole('heading', { name: 'capitals (fork 2)' }).waitFor();
  });

  it('shows the first rows of a file as they will be imported, and takes columns with other names', async () => {
    const page = await openConsole(visitor, cast.developer.token, `${datasets()}?import=file`);
    const paste = (text: string) => page.getByLabel('Or paste the text').fill(text);
    const preview = page.getByRole('region', { name: 'Preview' });
    const cells = () => preview.locator('tbody tr').first().locator('td').allInnerTexts();
    const rows = Array.from({ length: 12 }, (_, n) => `question ${n},answer ${n},other ${n},kind ${n}`);
    await paste(`Question,Answer,Other,Kind\n${rows.join('\n')}\n`);
    await page.getByLabel('Column with the expected answer').waitFor();
    expect(await page.getByLabel('Column with the input').inputValue()).toBe('Question');
    expect(await preview.locator('tbody tr').count()).toBe(10);
    expect(await cells()).toEqual(['question 0', 'answer 0', 'other 0', 'kind 0']);
    await page.getByLabel('Column with the expected answer').selectOption('Other');
    await page.getByLabel('Column with the group').selectOption('Kind');
    expect(await cells()).toEqual(['kind 0', 'question 0', 'other 0', 'answer 0']);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 740 });
      expect(await shortcomingsInEveryLook(page)).toEqual([]);
    }
    await page.getByLabel('Name', { exact: true }).fill('mapped');
    await press(page, /^Import$/);
    await page.getByRole('heading', { name: 'mapped' }).waitFor();
    const { records: imported } = await stored(await idIn(page));
    const fields = { Answer: 'answer 0' };
    expect(imported[0]).toMatchObject({ group: 'kind 0', input: 'question 0', expected: 'other 0', fields });

    await page.goto(`${service.url}/#${datasets()}?import=file`);
    const chat = (question: string) => ({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: question },
        { role: 'assistant', content: 'Paris' },
      ],
    });
    await paste(['France?', 'And its capital?'].map((one) => JSON.stringify(chat(one))).join('\n'));
    await preview.getByText('And its capital?').waitFor();
    expect(await preview.getByRole('combobox').count()).toBe(0);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Format').selectOption('csv');
    await page.getByLabel('Format').selectOption('json');
    await shown(page, 'The beginning cannot be read as JSON');
    await page.getByLabel('Format').selectOption('lines');
    await page.getByLabel('Name', { exact: true }).fill('chats');
    await press(page, /^Import$/);
    await page.getByRole('heading', { name: 'chats' }).waitFor();
    const { records: chats } = await stored(await idIn(page));
    expect(chats[1]).toMatchObject({ input: chat('And its capital?').messages.slice(0, 2), expected: 'Paris' });
  });

  it('takes the name from the file that was chosen last, and keeps nothing of a file that was refused', async () => {
    const page = await openConsole(visitor, cast.developer.token, datasets());
    const drop = (name: string, text: string) =>
      page.evaluate(`{
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      }`);
    const name = page.getByLabel('Name', { exact: true });
    const drafts = () => page.evaluate('Object.keys(sessionStorage).filter((key) => key.includes(" import "))');
    await page.getByRole('button', { name: 'Import a dataset' }).waitFor();
    await drop('first.csv', 'id,input,expected\na,b\n');
    await shown(page, 'first.csv');
    await press(page, /^Import$/);
    await shown(page, 'row 1: has 2 columns');
    await drop('many.csv', `input,expected\n${'a,b\n'.repeat(501)}`);
    await press(page, /^Import$/);
    await shown(page, 'there are 501 rows');
    await shown(page, 'many.csv'); // No row can be corrected, so the file stays.
    await drop('second.csv', 'id,input,expected\na,b,c\n');
    await shown(page, 'second.csv');
    await gone(page, 'row 1: has 2 columns');
    expect(await name.inputValue()).toBe('second');
    await name.fill('by hand');
    await drop('third.csv', 'id,input,expected\na,b\n');
    await shown(page, 'third.csv');
    expect(await name.inputValue()).toBe('by hand');
    await press(page, /^Import$/);
    await shown(page, 'row 1: has 2 columns');
    await press(page, 'Cancel');
    await press(page, 'Import a dataset');
    expect(await page.getByText('third.csv').count()).toBe(0); // The dropped file is not taken once more.
    await page.getByLabel('Or paste the text').fill('id,input,expected\na,b,c\n');
    await press(page, /^Import$/);
    await page.getByRole('heading', { name: 'by hand' }).waitFor();
    expect(await drafts()).toEqual([]);
    await goBack(page);
    await page.getByRole('dialog', { name: 'Import a dataset' }).waitFor();
    expect([await name.inputValue(), await page.getByLabel('Or paste the text').inputValue()]).toEqual(['', '']);
  });

  it('names what both changed if somebody else saves first, and keeps text entered during a save', async () => {
    const page = await openConsole(visitor, cast.developer.token, `${datasets()}?import=file`);
    const json = JSON.stringify({ name: 'shared', records: records(3) });
    await page.getByLabel('Or paste the text').fill(json);
    expect(await page.getByLabel('Format').inputValue()).toBe('json');
    await page.getByLabel('Name').fill('shared');
    await press(page, /^Import$/);
    await press(page, /^r1$/);
    await page.getByLabel('expected', { exact: true }).fill('mine');
    await press(page, 'Done');
    await press(page, 'Add a record');
    await page.getByLabel('id', { exact: true }).fill('r4');
    await page.getByLabel('input', { exact: true }).fill('question 4');
    await page.getByLabel('Another field').fill('level');
    await press(page, /^Add$/);
    await page.getByLabel('Kind of level').selectOption('json');
    await page.getByLabel('level', { exact: true }).fill('{"hard": tru}');
    await shown(page, 'This is not JSON');
    await page.getByLabel('level', { exact: true }).fill('{"hard": true}');
    await press(page, 'Done');

    const id = await idIn(page);
    const theirs = [{ ...records(1)[0], expected: 'theirs' }, ...records(3).slice(1)];
    await service.put(`/v1${datasets()}/${id}`, cast.admin.token, { version: 1, records: theirs });
    await press(page, 'Save as version 2');
    await shown(page, /Version 2 was saved meanwhile.*Changed there, too: r1/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Save as version 3');
    await gone(page, 'not saved yet');
    const { version, records: rows } = await stored(id);
    expect([version, rows.length, rows[0].expected, rows[3].fields]).toEqual([3, 4, 'mine', { level: { hard: true } }]);
    // Text that is entered during a save stays, and the dialog stays open.
    let answerSave = () => {};
    await page.route(`**/datasets/${id}`, async (route) => {
      if (route.request().method() === 'PUT') await new Promise<void>((resolve) => (answerSave = resolve));
      await route.continue();
    });
    await press(page, 'Add a record');
    await page.getByLabel('id', { exact: true }).fill('r5');
    await press(page, 'Done');
    const sent = page.waitForRequest((request) => request.method() === 'PUT');
    await press(page, 'Save as version 4');
    await sent;
    await press(page, /^r5/);
    const expected = page.getByLabel('expected', { exact: true });
    await expected.fill('entered');
    answerSave();
    await shown(page, 'Version 4 is saved.');
    await page.getByRole('button', { name: 'Save as version 5', includeHidden: true }).waitFor({ state: 'attached' });
    await expected.and(page.locator(':focus')).waitFor();
    await page.keyboard.type(' meanwhile');
    await press(page, 'Done');
    await page.unroute(`**/datasets/${id}`);
    await page.getByRole('button', { name: 'Save as version 5' }).focus();
    await page.keyboard.press('Enter');
    await gone(page, 'not saved yet');
    await page.locator(':focus').waitFor(); // The focus is not lost.
    expect((await stored(id)).records[4]).toMatchObject({ id: 'r5', expected: 'entered meanwhile' });
    await page.getByRole('link', { name: 'Versions', exact: true }).click();
    await page.getByRole('link', { name: 'with version 5' }).first().click();
    await shown(page, '0 added, 0 removed, 1 changed');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Delete the dataset');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await shown(page, 'shared is deleted.');
  });

  it('stays quick with 500 records of 50 fields, by mouse and by keyboard', async () => {
    const fields = Object.fromEntries(Array.from({ length: 46 }, (_, at) => [`field ${at}`, `value ${at}`]));
    const rows = records(500).map((row) => ({ ...row, ...fields }));
    const { body } = await service.post(`/v1${datasets()}`, cast.admin.token, { name: 'large', records: rows });
    const page = await openConsole(visitor, cast.developer.token, datasets());
    await page.getByRole('link', { name: 'large' }).waitFor();
    await page.getByRole('link', { name: 'large' }).click();
    await page.getByRole('button', { name: 'r1', exact: true }).focus();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: 'r500', exact: true }).and(page.locator(':focus')).waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(60);
    for (let turn = 0; turn < 20; turn++) await page.keyboard.press('PageUp');
    await page.getByLabel('Find records').fill('question 499');
    await page.getByRole('button', { name: 'r499', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Record r499' }).waitFor();
    await page.getByLabel('field 45', { exact: true }).fill('changed');
    await page.keyboard.press('Escape');
    await press(page, 'Save as version 2');
    await shown(page, 'Version 2 is saved.');
    expect((await stored(body.id)).records[498].fields['field 45']).toBe('changed');
  });

  it('counts all findings, and shows every record that has one', async () => {
    const rows = records(240).map((row, at) => (at < 230 ? { ...row, expected: '' } : row));
    await service.post(`/v1${datasets()}`, cast.admin.token, { name: 'unfinished', records: rows });
    const page = await openConsole(visitor, cast.developer.token, datasets());
    await page.getByRole('row', { name: /^unfinished.*230 findings/ }).waitFor();
    await page.getByRole('link', { name: 'unfinished' }).click();
    await page.getByRole('region', { name: 'Findings' }).getByText('230 findings').waitFor();
    await page.getByRole('link', { name: 'All records with findings' }).click();
    await shown(page, '230 of 240 records');
    await page.getByLabel('Find records').fill('question 230');
    await press(page, /^r230/);
    await page.getByRole('dialog').getByText('has no expected value').waitFor();
  });

  it('evaluates a model, and shows the scores of groups, the wrong rows, and the changes of a second run', async () => {
    const page = await openConsole(visitor, cast.developer.token, `/evaluations?project=${evaluated.project}`);
    await press(page, 'Start an evaluation');
    await shown(page, 'big-model');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, /^Start$/);
    await page.getByRole('row', { name: /^odd.* 66\.7 %/ }).waitFor();
    await page.getByRole('row', { name: /^All.* 75 % 46\.8 % to 91\.1 % 9 of 12/ }).waitFor();
    await shown(page, /threshold, 80 %. The score does not reach it/);
    await page.getByLabel('Show', { exact: true }).selectOption('wrong');
    await page.getByLabel('Group', { exact: true }).selectOption('even');
    await shown(page, '1 of 12 rows');
    await page.reload();
    await shown(page, 'no idea');
    expect(await page.locator('.evaluation-rows li').count()).toBe(1);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    const first = await at(page, /job_/);

    engine.script = ({ body }, response) => {
      const question = body.messages.at(-1).content;
      const content = question === 'question 1' ? 'still no idea' : answerTo(question, (number) => number === 12);
      sendJson(response, 200, completion(body.model, content, { usage: { prompt_tokens: 5, completion_tokens: 3 } }));
    };
    await page.getByRole('link', { name: 'Evaluate again' }).click();
    await page.getByLabel('Name', { exact: true }).fill('shorter prompt');
    await press(page, /^Start$/);
    await page.getByRole('heading', { name: 'shorter prompt' }).waitFor();
    await page.getByRole('link', { name: 'Questions' }).waitFor(); // The dataset keeps its own name.
    const { opened, open } = gate();
    await page.route('**/results?*', (route) => opened.then(() => route.continue()));
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByText('Change', { exact: true }).waitFor();
    expect(await page.getByText('empty', { exact: true }).count()).toBe(0); // The results are not loaded yet.
    open();
    await shown(page, 'Got better (2)');
    const worse = page.getByRole('region', { name: /^Got worse/ });
    expect((await worse.textContent())?.replace(/\s+/g, ' ')).toMatch(
      /Got worse \(1\).*r12.*Expectedanswer 12.*Answer 12\..*no idea/,
    );
    const textOf = async (part: Locator) => (await part.textContent())?.replace(/\s+/g, ' ');
    expect(await textOf(page.getByRole('region', { name: /^Another answer/ }))).toMatch(
      /\(1\)r1.*\d+ (ms|s) \([+−]?.*\), 8 tokens \(\+1\).*Earlierno ideaNowstill no idea$/,
    );
    expect(await textOf(page.locator('main dl.figures'))).toMatch(/Median latency.* from .*Tokens96\+12 from 84$/);
    const same = page.getByRole('region', { name: 'The same answer (8)' });
    await same.getByRole('button', { name: 'Show 8 records' }).click();
    expect(await same.getByRole('listitem').count()).toBe(8);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    const compared = await at(page, /compare/);
    await goBack(page);
    await page.getByRole('link', { name: 'Evaluate again' }).waitFor();
    const second = await at(page, /job_/);
    expect([first, compared]).not.toContain(second);

    const row = page.getByRole('listitem').filter({ hasText: 'question 12' });
    expect(await row.getByRole('link', { name: 'Ask in the playground' }).getAttribute('href')).toBe(
      `#/playground?project=${evaluated.project}&question=question+12`,
    );
    await row.getByRole('link', { name: 'r12' }).click();
    await page.getByRole('dialog', { name: 'Record r12' }).waitFor();
    expect(await at(page, /record=/)).toMatch(`${evaluated.dataset}?version=1&`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 740 });
      await page.goto(page.url().replace(/#.*/, `#/evaluations?project=${evaluated.project}`));
      const newest = page.getByRole('row', { name: /shorter prompt/ });
      await newest.waitFor();
      for (const text of [
        /^\w+ \d+, 20\d\d, /,
        /^big-model.*version 1/,
        'specification version 1',
        '83.3 %',
        /^\d.* to /,
      ])
        expect(await newest.getByText(text).first().isVisible()).toBe(true);
      const table = page.getByRole('group', { name: 'Evaluations' });
      expect(await table.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    }
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.goto(page.url().replace(/#.*/, `#${second}`));

    engine.script = () => new Promise(() => {});
    await page.getByRole('link', { name: 'Evaluate again' }).click();
    await press(page, /^Start$/);
    await shown(page, '0 of 12 records are scored.');
    await press(page, /^Cancel$/);
    await press(page, 'Cancel the evaluation');
    await shown(page, 'The evaluation is cancelled.');
  });

  it('offers a member nothing to change', async () => {
    const refused: string[] = [];
    const page = await openConsole(visitor, cast.member.token, `/projects/${evaluated.project}/datasets`);
    page.on('response', (response) => response.status() === 403 && refused.push(response.url()));
    await page.getByRole('link', { name: 'Questions' }).click();
    await press(page, /^r1$/);
    await page.getByRole('dialog').getByText('answer 1', { exact: true }).waitFor();
    expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(0);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Done');
    for (const act of ['Fork', 'Freeze', 'Evaluate', 'Add a record', 'Delete the dataset']) {
      expect(await page.getByRole('button', { name: act }).count()).toBe(0);
    }
    await page.goto(page.url().replace(/#.*/, '#/evaluations?start=yes'));
    await shown(page, 'Questions');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('link', { name: 'Questions' }).first().click();
    await page.getByRole('heading', { name: 'Questions' }).waitFor();
    expect(await page.getByRole('link', { name: 'Evaluate again' }).count()).toBe(0);
    expect(refused).toEqual([]);
  });
});
