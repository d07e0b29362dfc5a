import type { Page } from 'playwright-core';
import { describeInBrowser, Visitor } from '../support/browser.js';
import { at, cleanUp, goBack, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { InferenceEngine } from '../support/inference-engine.js';
import { echo, onnxTypes } from '../support/model-server/serving-models.js';
import { as, type Cast, castOf } from '../support/monitoring.js';
import { Service } from '../support/service.js';

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const shown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

describeInBrowser('deployments and alerts in the console', () => {
  let service: Service;
  let visitor: Visitor;
  let cast: Cast;
  let engine: InferenceEngine;
  beforeAll(async () => {
    engine = await InferenceEngine.start();
    const env = { SERVICE_MAX_ACCOUNTS: '4', SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
    service = await Service.start({ env });
    visitor = await Visitor.start(service.url);
    cast = await castOf(service);
  });
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => engine?.close(),
  );

  it('uploads a file, deploys it, predicts with a form made from its metadata, and deletes all again', async () => {
    const page = await openConsole(visitor, cast.developer.token, '/deployments');
    await page.getByRole('link', { name: 'Deploy a model' }).click();
    for (const kind of ['Engine elsewhere', 'Model file']) await page.getByRole('link', { name: kind }).click();
    const file = { name: 'iris.onnx', mimeType: '', buffer: echo({ input: onnxTypes.FP32 }, ['N', 4]) };
    await page.getByLabel(/Drop an ONNX file here/).setInputFiles(file);
    await shown(page, 'iris.onnx uploaded');
    expect(await page.getByLabel('Model file', { exact: true }).inputValue()).toBe('iris.onnx');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('iris');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Deploy');
    await page.getByRole('heading', { name: 'iris' }).waitFor();

    await page.getByLabel('input 2').fill('a word');
    await press(page, 'Predict');
    await shown(page, /element 1 of input "input"/);
    expect(await page.getByLabel('input 2').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('input 2').fill('3.25');
    await page.reload();
    await press(page, 'Predict');
    await shown(page, /^Answered in/);
    await page.getByRole('cell', { name: '3.25' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'View code');
    await shown(page, `-d '{"inputs": {"input": [[0.5, 3.25, 0.5, 0.5]]}}'`);
    await page.keyboard.press('Escape');

    await press(page, 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await shown(page, 'Nothing is deployed yet');
    await press(page, 'Delete iris.onnx');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete iris.onnx' }).waitFor({ state: 'detached' });
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('takes the name from the file that was chosen last, and deletes a refused file', async () => {
    const page = await openConsole(visitor, cast.developer.token, '/deployments?dialog=deploy');
    const drop = (name: string, buffer: Buffer) =>
      page.getByLabel(/Drop an ONNX file here/).setInputFiles({ name, mimeType: '', buffer });
    const name = page.getByLabel('Name', { exact: true });
    await drop('broken.onnx', Buffer.from('no model'));
    await shown(page, 'broken.onnx uploaded');
    expect(await name.inputValue()).toBe('broken');
    await press(page, 'Deploy');
    await shown(page, /cannot be served/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    const deploying = page.getByRole('dialog', { name: 'Deploy a model' });
    await deploying.getByRole('button', { name: 'Delete broken.onnx', exact: true }).click();
    await page.getByRole('dialog', { name: 'Delete broken.onnx?' }).getByRole('button', { name: 'Delete' }).click();
    await shown(page, 'broken.onnx is deleted.');
    await page.getByText(/cannot be served/).waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('');

    await drop('empty.onnx', Buffer.alloc(0));
    await shown(page, /must not be empty/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Delete empty.onnx');
    await page.getByText(/must not be empty/).waitFor({ state: 'detached' });

    for (const one of ['first', 'second']) {
      await drop(`${one}.onnx`, echo({ input: onnxTypes.FP32 }, ['N', 4]));
      await shown(page, `${one}.onnx uploaded`);
      expect(await name.inputValue()).toBe(one);
    }
    await name.fill('by hand');
    await page.getByLabel('Model file', { exact: true }).selectOption('first.onnx');
    expect(await name.inputValue()).toBe('by hand');
    await press(page, 'Deploy');
    await page.getByRole('heading', { name: 'by hand' }).waitFor();
    expect(await page.evaluate('Object.keys(sessionStorage).filter((key) => key.endsWith(" deployment"))')).toEqual([]);
    await press(page, 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    for (const one of ['first', 'second']) {
      await press(page, `Delete ${one}.onnx`);
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: `Delete ${one}.onnx` }).waitFor({ state: 'detached' });
    }
  });

  it('asks before a page with an upload is left, and keeps the history unchanged if the visitor stays', async () => {
    const page = await openConsole(visitor, cast.developer.token, '/jobs');
    const deploy = '/deployments?dialog=deploy';
    const go = (how: string) => page.evaluate(`void setTimeout(() => ${how})`);
    await page.route('**/v1/model-files/*', () => {}); // The upload does not end.
    for (const place of [deploy, '/alerts']) {
      await go(`location.hash = '${place}'`);
      await at(page, place);
    }
    await goBack(page);
    const file = { name: 'a.onnx', mimeType: '', buffer: Buffer.alloc(9) };
    await page.getByLabel(/Drop an ONNX file here/).setInputFiles(file);
    await page.getByRole('button', { name: 'Cancel the upload' }).waitFor();
    for (const way of ['history.back()', 'history.forward()', "document.querySelector('.menu-item[href]').click()"]) {
      const asked = page.waitForEvent('dialog');
      await go(way);
      await (await asked).dismiss();
      await at(page, deploy);
    }
    const asked = page.waitForEvent('dialog');
    await go('history.back()');
    await (await asked).accept();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    for (const place of [deploy, '/alerts']) {
      await go('history.forward()');
      await at(page, place);
    }
  });

  it('tells why an engine is refused, keeps the entered text after a reload, and predicts with an engine', async () => {
    const page = await openConsole(visitor, cast.developer.token, '/deployments?dialog=deploy&kind=engine');
    await page.getByLabel('Name', { exact: true }).fill('far/away');
    await page.getByLabel('Address of the engine').fill('http://gpu.internal:8000');
    await page.getByLabel('Name of the model at the engine').fill('double');
    await page.reload();
    await press(page, 'Deploy');
    await shown(page, /SERVICE_RUNTIME_ALLOWED_HOSTS/);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Address of the engine').fill(engine.url);
    await press(page, 'Deploy');
    await page.getByRole('heading', { name: 'far/away' }).waitFor();
    await page.getByLabel('x 2').fill('4');
    await press(page, 'Predict');
    await page.getByRole('cell', { name: '8', exact: true }).waitFor();
  });

  it('previews a rule with the past jobs, creates and disables it, and acknowledges its alerts', async () => {
    await as(service, cast.admin.token).ended('failed');
    const page = await openConsole(visitor, cast.developer.token, '/alerts/rules');
    await page.getByRole('link', { name: 'New rule' }).click();
    await page.getByLabel('Name').fill('any failure');
    await page.getByLabel('Failed jobs in a row').fill('1');
    await page.getByRole('img', { name: /^It would have fired once over \d+ finished job/ }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Create');
    await page.getByRole('cell', { name: 'When a job fails' }).waitFor();

    for (let turn = 0; turn < 3; turn++) {
      await as(service, cast.admin.token).ended('failed');
      await as(service, cast.admin.token).ended('succeeded');
    }
    await page.getByLabel('any failure is enabled').uncheck();
    await page.getByRole('link', { name: 'Alerts', exact: true }).last().click();
    await page.getByRole('link', { name: 'Firing' }).click();
    await page.getByLabel('Choose all that fire').check();
    await page
      .getByLabel(/^Choose External/)
      .first()
      .uncheck();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Acknowledge 2');
    await page.getByLabel('Note').fill('The disk was full.');
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('heading', { name: '1 alert' }).waitFor();
    await page.getByRole('link', { name: /^External job failed/ }).click();
    await page.getByRole('link', { name: 'nightly training' }).waitFor();
    await press(page, 'Acknowledge');
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('main').getByText('Dan').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    const { alerts } = await as(service, cast.admin.token).get('/v1/alerts?status=acked');
    expect(alerts.map(({ note }: { note: string }) => note).sort()).toEqual([
      'The disk was full.',
      'The disk was full.',
      null,
    ]);
  });

  /** The buttons that change something. Those of a head only sort, and those of the banner are about the account. */
  const changing = (page: Page) => page.locator('main .frame button:not(th button)');

  it('offers a member nothing to change, and other teams nothing at all', async () => {
    const page = await openConsole(visitor, cast.member.token, '/deployments');
    await page.getByRole('heading', { name: 'Model files' }).waitFor();
    await shown(page, 'tiny-embed');
    expect(await changing(page).count()).toBe(0);
    await page.goto(`${service.url}/#/alerts/rules?rule=new`);
    await page.getByRole('cell', { name: 'When a job fails' }).waitFor();
    expect(await changing(page).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    const other = await openConsole(visitor, cast.regular.token, '/alerts');
    await shown(other, 'Your role does not allow this page');
    expect(await other.getByRole('link', { name: 'Deployments' }).count()).toBe(0);
  });
});
