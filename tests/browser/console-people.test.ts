import type { Page } from 'playwright-core';
import { copiedBy, describeInBrowser, Visitor } from '../support/browser.js';
import { tenon } from '../support/command-line.js';
import { cleanUp, openConsole, shortcomingsInEveryLook } from '../support/console.js';
import { mailedToken } from '../support/mailbox.js';
import { as } from '../support/monitoring.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { answering, WebhookReceiver } from '../support/webhook-receiver.js';
import { type Member, password, register } from '../support/workspace.js';

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

describeInBrowser('the console for the team and the account', () => {
  let service: Service;
  let receiver: WebhookReceiver;
  let visitor: Visitor;
  let admin: Member;
  let member: Member;
  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    service = await Service.start({ env: { SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1' } });
    visitor = await Visitor.start(service.url);
    admin = await register(service, 'Ada');
    member = await register(service, 'Grace');
    const token = await mailedToken(service, 'ada@example.com', 'tnv');
    await service.post('/v1/auth/verify-email', undefined, { token });
  });
  const firedAlert = async () => {
    const ada = as(service, admin.token);
    await ada.rule({ threshold: 1 });
    await ada.ended('failed');
    return (await ada.alerts())[0];
  };
  cleanUp(
    () => visitor,
    () => service?.stop(),
    () => receiver?.stop(),
  );

  it('copies the link of an invite, changes a role, and removes a member', async () => {
    const page = await openConsole(visitor, admin.token, '/team');
    await press(page, 'Invite');
    await page.getByLabel('E-mail').fill('nobody');
    await press(page, 'Create the invite');
    await page.getByLabel('E-mail').and(page.locator('[aria-invalid=true]')).waitFor();
    await page.getByLabel('E-mail').fill('linus@example.com');
    await page.getByRole('dialog').getByLabel('Role').selectOption('developer');
    await press(page, 'Create the invite');
    const ready = page.getByRole('dialog', { name: 'The invite is ready' });
    const copied = await copiedBy(ready.getByRole('button', { name: 'Copy link' }));
    await page.getByText('Copied').waitFor();
    const { body } = await service.get('/v1/auth/invites', admin.token);
    expect(body.invites).toMatchObject([{ email: 'linus@example.com', role: 'developer' }]);
    expect(copied).toBe(`${service.url}/auth?invite=${body.invites[0].token}`);
    await press(page, 'Done');
    await page.getByRole('button', { name: 'Invite', exact: true }).and(page.locator(':focus')).waitFor();
    await page.getByRole('cell', { name: 'linus@example.com' }).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Revoke');
    await page.getByText('No invite waits').waitFor();

    await register(service, 'Alan');
    await page.reload();
    await page.getByLabel('Role of Alan').selectOption('developer');
    await page.getByText('Alan is developer now.').waitFor();
    await press(page, 'Remove Alan');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Alan is removed.').waitFor();
    expect((await service.get('/v1/auth/users', admin.token)).body.count).toBe(2);
  });

  it('adds a webhook, tests it, and deletes it', async () => {
    const page = await openConsole(visitor, admin.token, '/team/webhooks');
    await press(page, 'Add a webhook');
    await page.getByLabel('URL').fill(receiver.url);
    await press(page, 'Add');
    await page.getByText(/^whsec_/).waitFor();
    await press(page, 'Done');
    await press(page, 'Test');
    await page.getByText('The receiver answered 200.').waitFor();
    expect(receiver.posted).toHaveLength(1);
    const test = page.getByRole('button', { name: 'Test', exact: true });
    await test.focus();
    await test.click(); // The button is disabled until the receiver has answered.
    await until('the receiver has the second event', () => receiver.posted.length === 2);
    await test.and(page.locator(':focus')).waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);

    const { id: alert } = await firedAlert();
    await until('the receiver has the alert', () =>
      receiver.posted.some(({ headers }) => headers['webhook-id'] === alert),
    );
    receiver.answer = answering(503);
    await page.reload();
    await press(page, '1 delivery');
    const deliveries = page.getByRole('dialog', { name: 'Deliveries' });
    await deliveries.getByRole('cell', { name: 'delivered (200)' }).waitFor();
    await press(page, 'Send again');
    await deliveries.getByRole('cell', { name: 'answered with status 503' }).waitFor();
    expect(receiver.posted.at(-1)?.headers['webhook-id']).toBe(alert);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await press(page, '2 deliveries');
    await page.keyboard.press('Escape');

    await press(page, 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Alerts are posted to no program yet').waitFor();
    await page.goto(`${service.url}/#/team/audit?action=webhook.deleted`);
    await page.getByRole('cell', { name: 'webhook deleted' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
  });

  it('changes the account: name, password, API keys, sessions', async () => {
    const page = await openConsole(visitor, admin.token, '/account');
    await page.getByLabel('Name').fill('Ada King');
    await press(page, 'Save the name');
    await page.getByText('Your name is changed.').waitFor();
    await press(page, 'New key');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('nightly evaluation');
    await dialog.getByLabel('Chat and make embeddings').check();
    await dialog.getByLabel('Calls of models at the same time').fill('none');
    await press(page, 'Make the key');
    await dialog.getByText('must be a whole number from 1 to 10000').waitFor();
    await dialog.getByLabel('Calls of models at the same time').fill('4');
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'Make the key');
    const key = (await page.locator('dialog pre').textContent()) as string;
    expect((await service.get('/v1/status', key)).status).toBe(200);
    await press(page, 'Done');
    const row = page.getByRole('row', { name: /nightly evaluation/ });
    await row.getByText('chat, 4 at the same time').waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('Read what you may read').check();
    await dialog.getByLabel('Calls of models at the same time').fill('');
    await press(page, 'Save');
    await row.getByText('chat, read', { exact: true }).waitFor();
    expect((await service.get('/v1/status', key)).body.caller.key).toMatchObject({ permissions: ['chat', 'read'] });
    await page
      .getByRole('row', { name: /nightly evaluation/ })
      .getByRole('button', { name: 'Revoke' })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key is revoked.').waitFor();
    expect((await service.get('/v1/status', key)).status).toBe(401);

    const phone = 'Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0';
    const login = { email: 'ada@example.com', password };
    const signIn = () => service.call('POST', '/v1/auth/login', { json: login, headers: { 'User-Agent': phone } });
    await signIn();
    await page.reload();
    const other = page.getByRole('row', { name: /^Firefox on Android (127\.0\.0\.1|::1)/ });
    await other.waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await press(page, 'End all others');
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    await page.getByText('All other sessions have ended.').waitFor();
    await other.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
    expect((await service.get('/v1/auth/sessions', admin.token)).body.count).toBe(1);

    await signIn();
    await page.getByLabel('Current password').fill('wrong');
    await page.getByLabel('New password').fill('another long phrase');
    await press(page, 'Change the password');
    await page.getByRole('alert').waitFor();
    expect(await shortcomingsInEveryLook(page)).toEqual([]);
    await page.getByLabel('Current password').fill(password);
    await press(page, 'Change the password');
    await page.getByText(/^Your password is changed/).waitFor();
    expect((await service.get('/v1/auth/sessions', admin.token)).body.count).toBe(1);
  });

  it('offers a member only what the role allows', async () => {
    const page = await openConsole(visitor, member.token, '/team');
    await page.getByRole('cell', { name: 'member' }).waitFor();
    for (const name of ['Invite', 'Audit trail']) expect(await page.getByText(name, { exact: true }).count()).toBe(0);
    expect(await page.getByRole('combobox').count()).toBe(0);
    await page.goto(`${service.url}/#/team/webhooks`);
    await page.getByText('Alerts are posted to no program yet').waitFor();
    expect(await page.getByRole('button', { name: 'Add a webhook' }).count()).toBe(0);
    await page.goto(`${service.url}/#/team/audit`);
    await page.getByText('Your role does not allow this page').waitFor();
    await page.goto(`${service.url}/#/evaluations`);
    await page.getByText('There is no evaluation yet').waitFor();
    expect(await page.getByRole('button', { name: 'Start an evaluation' }).count()).toBe(0);
  });

  it('shows an unverified account what it may not do yet, why, and the way out', async () => {
    const json = { role: 'developer' };
    await service.call('PATCH', `/v1/auth/users/${member.id}/role`, { token: admin.token, json });
    const page = await openConsole(visitor, member.token, '/account');
    const banner = page.getByRole('region', { name: 'Unverified account' });
    const refused = async (name: string) => {
      const button = page.getByRole('button', { name, disabled: true });
      await button.focus();
      await button.and(page.locator(':focus')).press('Enter');
      expect(await page.getByRole('dialog').count()).toBe(0);
      const reason = page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`);
      expect([await reason.isVisible(), await reason.textContent()]).toEqual([
        true,
        'Confirm your e-mail address first.',
      ]);
      expect(await shortcomingsInEveryLook(page)).toEqual([]);
    };
    await banner.getByText(/the message to grace@example.com lies in the folder outbox/).waitFor();
    const command = await copiedBy(banner.getByRole('button', { name: 'Copy command' }));
    expect(command).toBe('npx tenon verify-email --email grace@example.com');
    await press(page, 'Send the mail again');
    await page.getByText('Another message is in the outbox.').waitFor();
    await refused('New key');
    expect(await page.getByRole('checkbox', { name: 'Mail alerts to me' }).isDisabled()).toBe(true);
    await page.goto(`${service.url}/#/evaluations`);
    await refused('Start an evaluation');

    await page.route('**/v1/status', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), mail: 'smtp' } });
    });
    await page.reload();
    await banner.getByText('Open the link that we sent to grace@example.com.').waitFor();
    expect(await banner.getByText('npx').count()).toBe(0);
    await page.unroute('**/v1/status');

    expect((await tenon(service, command.split(' ').slice(2))).code).toBe(0);
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await banner.waitFor({ state: 'detached' });
    await press(page, 'Start an evaluation');
    await page.getByRole('dialog', { name: 'Start an evaluation' }).waitFor();
  });
});
