import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { copiedBy, describeInBrowser, Visitor } from '../support/browser.js';
import { query } from '../support/database.js';
import { mailedToken } from '../support/mailbox.js';
import { shortcomings } from '../support/page-checks.js';
import { Service } from '../support/service.js';
import { password } from '../support/workspace.js';

const run = promisify(execFile);
const text = async (page: Page, selector: string) => (await page.locator(selector).textContent())?.trim();
const shown = (page: Page, selector: string) => page.locator(selector).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const alertIn = (page: Page, form: string) => text(page, `${form} [role=alert]`);
const storedInBrowser = (page: Page) =>
  page.evaluate<string>('JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage)])');

async function fill(page: Page, form: string, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`#${form} [name=${name}]`, value);
  await page.click(`#${form} [type=submit]`);
}

describeInBrowser('the pages in a browser', () => {
  let service: Service;
  let visitor: Visitor;
  let adminToken: string;
  const ada = { email: 'ada@example.com', password };
  const invite = async (more: object = {}) => (await service.post('/v1/auth/invites', adminToken, more)).body;
  const invited = (token: string, options = {}) => visitor.open(`/auth?invite=${encodeURIComponent(token)}`, options);

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '2' } });
    visitor = await Visitor.start(service.url);
  });
  afterAll(async () => {
    await visitor?.stop();
    await service?.stop();
  });
  afterEach(async () => {
    await visitor.closePages();
    expect(visitor.complaints.splice(0)).toEqual([]);
  });

  it('shows the problems of a sign-up beside their fields', async () => {
    const page = await visitor.open('/auth');
    await shown(page, '#sign-up');
    expect(await text(page, '#notice')).toBe('You are the first here: this account becomes the admin.');
    await fill(page, 'sign-up-form', { name: '', email: 'nobody', password: 'short' });
    expect(await text(page, '#sign-up-name-error')).toBe('Name must have 1 to 100 characters.');
    expect(await text(page, '#sign-up-email-error')).toMatch(/^E-mail must be an address such as .*\.$/);
    expect(await text(page, '#sign-up-password-error')).toBe('Password must have 8 to 128 characters.');
    expect(await page.getAttribute('#sign-up-password', 'aria-describedby')).toBe(
      'password-rule sign-up-password-error',
    );
    await page.locator('#sign-up-name:focus').waitFor();
    expect(await page.locator('#sign-up-form [role=alert]').isVisible()).toBe(false);
    expect(await shortcomings(page)).toEqual([]);
    await fill(page, 'sign-up-form', { name: 'Ada', email: 'nobody', password });
    await page.locator('#sign-up-name-error').waitFor({ state: 'detached' });
    await shown(page, '#sign-up-email-error'); // sending a form clears its errors until the answer comes
    expect(await page.locator('[aria-invalid]').count()).toBe(1);
  });

  it('signs the first admin up and leads to a chat by curl, with a key that is shown once', async () => {
    const page = await visitor.open('/auth');
    await shown(page, '#sign-up');
    await fill(page, 'sign-up-form', { name: '<b>Ada</b>', ...ada });
    await shown(page, '#account');
    await page.locator('#title:focus').waitFor();
    expect(await text(page, '#title')).toBe('You are signed in');
    expect(await text(page, '#account dl')).toMatch(
      /^Name\s*<b>Ada<\/b>\s*E-mail\s*ada@example\.com not verified yet\s*Role\s*admin$/,
    );
    const key = (await text(page, '#api-key')) ?? '';
    expect(key).toMatch(/^tnk_[0-9A-Za-z]{49}$/);
    expect(await text(page, '#key-part .warning')).toContain('it will not be shown again');
    expect(await copiedBy(page.getByRole('button', { name: 'Copy key' }))).toBe(key);

    await press(page, 'Make a first project');
    await page.locator('#command').waitFor();
    expect(await text(page, '#making')).toBe('The project is ready.');
    const command = await copiedBy(page.getByRole('button', { name: 'Copy command' }));
    expect(command).toContain(key);
    const { stdout } = await run('bash', ['-c', `${command} --silent --max-time 60 --write-out '\\n%{http_code}'`]);
    const [answer = '', status] = stdout.split('\n');
    expect(status).toBe('200');
    expect(JSON.parse(answer).choices[0].message.content).toBe('The capital of France is Paris.');
    expect(await shortcomings(page)).toEqual([]);

    adminToken = JSON.parse(await storedInBrowser(page))[0][0][1];
    expect(await storedInBrowser(page)).not.toContain('tnk_');
    await page.reload();
    await shown(page, '#no-key');
    expect(await page.content()).not.toContain('tnk_');
    expect(await text(page, '#account-name')).toBe('<b>Ada</b>');
    await page.goBack().catch(() => undefined);
    await page.goForward().catch(() => undefined);
    expect(await page.content()).not.toContain('tnk_');
  });

  it('tells that a password is wrong, and sends a form only once', async () => {
    const page = await visitor.open('/auth');
    await shown(page, '#sign-in');
    let calls = 0;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/v1/auth/login', async (route) => {
      calls++;
      await held;
      await route.continue();
    });
    await fill(page, 'sign-in-form', { ...ada, password: 'wrong password' });
    expect(await page.isDisabled('#sign-in-form [type=submit]')).toBe(true);
    await page.press('#sign-in-password', 'Enter');
    letGo();
    await shown(page, '#sign-in-form [role=alert]');
    expect(await alertIn(page, '#sign-in-form')).toBe('The e-mail or the password is wrong.');
    expect(await page.isEnabled('#sign-in-form [type=submit]')).toBe(true);
    expect(calls).toBe(1);
    await page.unroute('**/v1/auth/login');
    await page.route('**/v1/auth/login', (route) => route.abort());
    await page.click('#sign-in-form [type=submit]');
    await page.getByText('The service could not be reached').waitFor();
    await press(page, 'Forgot your password?');
    await press(page, 'Send the link');
    await page.getByText('an e-mail is on its way to it').waitFor();
    expect(await page.getByText('The service could not be reached').count()).toBe(0);
  });

  it('signs in with the keyboard alone, sends the verification again, and signs out', async () => {
    const page = await visitor.open('/auth');
    await shown(page, '#sign-in');
    await page.focus('#tab-sign-in');
    await page.keyboard.press('ArrowRight');
    await page.locator('#tab-sign-up:focus').waitFor();
    expect(await page.isVisible('#sign-up')).toBe(true);
    await page.keyboard.press('ArrowRight');
    for (const typed of [ada.email, ada.password]) {
      await page.keyboard.press('Tab');
      await page.keyboard.type(typed);
    }
    await page.keyboard.press('Enter');
    await shown(page, '#account');
    await press(page, 'Send again');
    await page.getByText('Another e-mail is on its way to ada@example.com.').waitFor();
    await mailedToken(service, ada.email, 'tnv', 1);
    const token = JSON.parse(await storedInBrowser(page))[0][0][1];
    await press(page, 'Sign out');
    await shown(page, '#sign-in');
    expect(await text(page, '#notice')).toBe('You are signed out.');
    expect(await page.content()).not.toContain('tnk_');
    expect(await page.inputValue('#sign-in-password')).toBe('');
    expect(await storedInBrowser(page)).toBe('[[],[]]');
    expect((await service.get('/v1/auth/me', token)).status).toBe(401);
  });

  it('confirms the e-mail by a click, not by opening the link', async () => {
    const token = await mailedToken(service, ada.email, 'tnv');
    const verified = async () => (await service.get('/v1/auth/me', adminToken)).body.email_verified;
    const page = await visitor.open(`/verify-email?token=${token}`);
    await shown(page, '#form');
    expect(page.url()).toBe(`${service.url}/verify-email`);
    expect(await shortcomings(page)).toEqual([]);
    expect(await verified()).toBe(false);
    await press(page, 'Confirm');
    await page.getByText('ada@example.com is confirmed.').waitFor();
    expect(await verified()).toBe(true);
    await page.goto(`${service.url}/verify-email?token=${token}`);
    await press(page, 'Confirm');
    await page.getByText('This token was used already.').waitFor();
    expect(await page.isVisible('#form')).toBe(false);
    await page.goto(`${service.url}/verify-email`);
    await page.getByText('Open this page by the link of the e-mail').waitFor();
    expect(await page.isVisible('#form')).toBe(false);
  });

  it('mails a link, which leads to a page for choosing a new password', async () => {
    const page = await visitor.open('/auth');
    await page.fill('#sign-in-email', ada.email);
    await press(page, 'Forgot your password?');
    expect(await page.inputValue('#forgot-email')).toBe(ada.email);
    expect(await shortcomings(page)).toEqual([]);
    await press(page, 'Send the link');
    await page.getByText('an e-mail is on its way to it').waitFor();
    await page.goto(`${service.url}/reset-password?token=${await mailedToken(service, ada.email, 'tnr')}`);
    await shown(page, '#form');
    expect(page.url()).toBe(`${service.url}/reset-password`);
    expect(await text(page, '#password-rule')).toBe('8 to 128 characters');
    await fill(page, 'form', { password: 'a better password', again: 'another password' });
    expect(await text(page, '#again-error')).toBe('New password, again must be the same as the new password.');
    await fill(page, 'form', { password: 'short', again: 'short' });
    await shown(page, '#password-error');
    expect(await text(page, '#password-error')).toBe('New password must have 8 to 128 characters.');
    ada.password = 'a better password';
    await fill(page, 'form', { password: ada.password, again: ada.password });
    await page.getByText('The new password of ada@example.com is set.').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await shown(page, '#sign-in');
    await fill(page, 'sign-in-form', ada);
    await shown(page, '#account');
    expect(await text(page, '#account-verified')).toBe('verified');
    expect(await page.isVisible('#resend-form')).toBe(false);
    expect((await service.get('/v1/auth/me', adminToken)).status).toBe(401);
    adminToken = JSON.parse(await storedInBrowser(page))[0][0][1];
    await visitor.closePages();
    const stale = await visitor.open('/reset-password?token=tnr_x');
    await fill(stale, 'form', { password, again: password });
    await stale.getByText('There is no such token').waitFor();
    await stale.getByRole('link', { name: 'Ask for another link' }).click();
    await shown(stale, '#forgot');
  });

  it.each([
    ['revoked', 'This invite has been revoked: ask for a new one.'],
    ['expired', 'This invite has expired: ask for a new one.'],
    ['unknown', 'There is no such invite.'],
  ])('says that an invite is %s', async (state, said) => {
    const { id, token } = await invite();
    if (state === 'revoked') await service.delete(`/v1/auth/invites/${id}`, adminToken);
    if (state === 'expired') {
      const sql = "UPDATE invites SET expires_at = now() - interval '1 second' WHERE id = $1";
      await query(service.databaseUrl as string, sql, [id]);
    }
    const page = await invited(state === 'unknown' ? 'tni_../?#' : token);
    await shown(page, '#sign-in');
    expect(await text(page, '#notice')).toBe(`${said} You can sign in, or sign up without it.`);
  });

  it('signs an invited person up, with the e-mail that the invite names', async () => {
    const { token } = await invite({ email: 'grace@example.com', role: 'developer' });
    const page = await invited(token, { width: 360 });
    await shown(page, '#sign-up');
    expect(await text(page, '#notice')).toBe('<b>Ada</b> invites you to join the team as developer.');
    expect(page.url()).toBe(`${service.url}/auth`);
    expect(await page.content()).not.toContain(token);
    expect(await page.inputValue('#sign-up-email')).toBe('grace@example.com');
    expect(await page.isEditable('#sign-up-email')).toBe(false);
    expect(await shortcomings(page)).toEqual([]);
    await fill(page, 'sign-up-form', { name: 'Grace', password });
    await shown(page, '#account');
    expect(await text(page, '#account-role')).toBe('developer');
    expect(await text(page, '#account-email')).toBe('grace@example.com');
    expect(await page.inputValue('#sign-up-password')).toBe('');
    await page.goBack();
    expect(page.url()).toBe('about:blank');

    await visitor.closePages();
    const again = await invited(token);
    await shown(again, '#sign-in');
    expect(await text(again, '#notice')).toMatch(/^This invite has been redeemed\./);
  });

  it('says that sign-up is closed, and why', async () => {
    const full = 'Sign-up is closed: all 2 accounts of this deployment are taken.';
    const page = await visitor.open('/auth');
    await shown(page, '#sign-in');
    expect(await text(page, '#notice')).toBe(full);
    expect(await page.isVisible('#tabs')).toBe(false);
    await page.goto(`${service.url}/auth?invite=${encodeURIComponent((await invite()).token)}`);
    await shown(page, '#sign-up');
    expect(await text(page, '#notice')).toContain(full);
    await fill(page, 'sign-up-form', { name: 'Bob', email: 'bob@example.com', password });
    await shown(page, '#sign-up-form [role=alert]');
    for (const [account_count, said] of [
      [0, 'the first account is registered with the master key'],
      [1, 'Sign-up is by invite only: ask an admin of your team for a link.'],
    ] as const) {
      const json = { account_count, max_accounts: 2, registration_open: false };
      await page.route('**/v1/auth/status', (route) => route.fulfill({ json }));
      await page.reload();
      await page.getByText(said).waitFor();
      await page.unroute('**/v1/auth/status');
    }
  });

  it('can be read and used at 360 pixels, light and dark', async () => {
    const page = await visitor.open('/auth', { width: 360 });
    const usable = async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect({ colorScheme, wrong: await shortcomings(page) }).toEqual({ colorScheme, wrong: [] });
      }
    };
    await shown(page, '#sign-in');
    await usable();
    await fill(page, 'sign-in-form', { ...ada, password: 'wrong password' });
    await shown(page, '#sign-in-form [role=alert]');
    await usable();
    await fill(page, 'sign-in-form', ada);
    await shown(page, '#account');
    await page.fill('#project-id', `prj_${'0'.repeat(36)}`);
    await shown(page, '#command');
    await usable();
    for (const path of ['/verify-email?token=x', '/reset-password?token=x']) {
      await page.goto(service.url + path);
      await shown(page, '#form');
      await usable();
    }
  });

  it('shows the areas and examples of the API, and calls an operation with a credential', async () => {
    const page = await visitor.open('/docs');
    await page.locator('.opblock-tag').first().waitFor();
    const areas = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.opblock-tag')].map((one) => one.dataset.tag)`,
    );
    expect(areas).toEqual(expect.arrayContaining(['Team accounts', 'Monitoring', 'Project workspace', 'Inference']));

    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.fill('#auth-bearer-value >> nth=0', adminToken);
    await page.getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.getByRole('button', { name: 'Close' }).last().click();

    await page.click('.opblock-tag[data-tag="Team accounts"]');
    const operation = page.locator('#operations-Team_accounts-readOwnAccount');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.response[data-code="401"]').getByText('session_required').first().waitFor();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table .highlight-code').first();
    await answer.waitFor();
    expect(await answer.textContent()).toContain('ada@example.com');
    await page.setViewportSize({ width: 390, height: 740 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect({ colorScheme, wrong: await shortcomings(page, { least: 'critical' }) }).toEqual({
        colorScheme,
        wrong: [],
      });
    }
  }, 150_000);
});
