import type { Page } from 'playwright-core';
import { copiedBy, describeInBrowser, Visitor } from '../support/browser.js';
import { query } from '../support/database.js';
import { mailedToken } from '../support/mailbox.js';
import { shortcomings } from '../support/page-checks.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { password } from '../support/workspace.js';

const text = async (page: Page, selector: string) => (await page.locator(selector).textContent())?.trim();
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const notice = (page: Page) => text(page, '.entry-notice');
const storedInBrowser = (page: Page) =>
  page.evaluate<string>('JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage)])');
const sessionIn = (page: Page) => page.evaluate<string>("sessionStorage.getItem('tenon.session')");

/** Fills the form and submits it by Enter. */
async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
  await page.keyboard.press('Enter');
}

const noteOf = (page: Page, label: string) =>
  page
    .locator('.field', { has: page.getByLabel(label, { exact: true }) })
    .locator('.field-note')
    .textContent();

describeInBrowser('the pages in a browser', () => {
  let service: Service;
  let visitor: Visitor;
  let adminToken: string;
  const ada = { 'E-mail': 'ada@example.com', Password: password };
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
    await heading(page, 'Sign up');
    expect(await notice(page)).toBe('You are the first here: this account becomes the admin.');
    await page.locator('input[autocomplete=name]:focus').waitFor();
    await fill(page, { Name: '', 'E-mail': 'nobody', Password: 'short' });
    await page.locator('[aria-invalid=true]').first().waitFor();
    expect(await noteOf(page, 'Name')).toBe('must have 1 to 100 characters');
    expect(await noteOf(page, 'E-mail')).toMatch(/^must be an address such as /);
    expect(await noteOf(page, 'Password')).toBe('must have 8 to 128 characters');
    await page.locator('input[autocomplete=name]:focus').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await shortcomings(page)).toEqual([]);
    await fill(page, { Name: 'Ada', 'E-mail': 'nobody', Password: password });
    await until('one field is invalid', async () => (await page.locator('[aria-invalid]').count()) === 1);
  });

  it('signs the first admin up and ends in the console, with a key that is shown once', async () => {
    const page = await visitor.open('/auth');
    await fill(page, { Name: '<b>Ada</b>', ...ada });
    await heading(page, 'Overview');
    const key = await copiedBy(page.getByRole('button', { name: 'Copy key' }));
    expect(key).toMatch(/^tnk_[0-9A-Za-z]{49}$/);
    adminToken = await sessionIn(page);
    expect((await service.get('/v1/keys', adminToken)).body.count).toBe(1);
    expect(await storedInBrowser(page)).not.toContain('tnk_');
    await page.reload();
    await heading(page, 'Overview');
    expect(await page.content()).not.toContain('tnk_');
  });

  it('tells that a password is wrong, and sends a form only once', async () => {
    const page = await visitor.open('/auth');
    await heading(page, 'Sign in');
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
    await fill(page, { ...ada, Password: 'wrong password' });
    await page.getByRole('button', { name: 'One moment' }).waitFor();
    await page.keyboard.press('Enter');
    letGo();
    await page.getByRole('alert').getByText('The e-mail or the password is wrong.').waitFor();
    expect(calls).toBe(1);
    await page.unroute('**/v1/auth/login');
    await page.route('**/v1/auth/login', (route) => route.abort());
    await press(page, 'Sign in');
    await page.getByText('The service could not be reached').waitFor();
    await press(page, 'Forgot your password?');
    await press(page, 'Send the link');
    await page.getByText('an e-mail is on its way to it').waitFor();
    expect(await page.getByText('The service could not be reached').count()).toBe(0);
  });

  it('signs in with the keyboard alone, makes no key, and signs out', async () => {
    const page = await visitor.open('/auth');
    await page.locator('input[type=email]:focus').waitFor();
    const [email, secret] = Object.values(ada) as [string, string];
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(secret);
    await page.keyboard.press('Enter');
    await heading(page, 'Overview');
    const token = await sessionIn(page);
    expect((await service.get('/v1/keys', token)).body.count).toBe(1);
    await page.getByRole('button', { name: /^Sign out/ }).click();
    await heading(page, 'Sign in');
    expect(await storedInBrowser(page)).toBe('[[],[]]');
    expect((await service.get('/v1/auth/me', token)).status).toBe(401);
  });

  it('confirms the e-mail by a click, not by opening the link', async () => {
    const token = await mailedToken(service, ada['E-mail'], 'tnv');
    const verified = async () => (await service.get('/v1/auth/me', adminToken)).body.email_verified;
    const page = await visitor.open(`/verify-email?token=${token}`);
    await page.getByText('One click').waitFor();
    expect(page.url()).toBe(`${service.url}/verify-email`);
    expect(await shortcomings(page)).toEqual([]);
    expect(await verified()).toBe(false);
    await press(page, 'Confirm');
    await page.getByText('ada@example.com is confirmed.').waitFor();
    expect(await verified()).toBe(true);
    await page.goto(`${service.url}/verify-email?token=${token}`);
    await press(page, 'Confirm');
    await page.getByText('This token was used already.').waitFor();
    await page.goto(`${service.url}/verify-email`);
    await page.getByText('Open this page by the link of the e-mail').waitFor();
    expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  });

  it('mails a link, which leads to a page for choosing a new password', async () => {
    const page = await visitor.open('/auth');
    await page.getByLabel('E-mail').fill(ada['E-mail']);
    await press(page, 'Forgot your password?');
    await heading(page, 'Forgot your password?');
    expect(await page.getByLabel('E-mail').inputValue()).toBe(ada['E-mail']);
    expect(await shortcomings(page)).toEqual([]);
    await press(page, 'Send the link');
    await page.getByText('an e-mail is on its way to it').waitFor();
    await page.goto(`${service.url}/reset-password?token=${await mailedToken(service, ada['E-mail'], 'tnr')}`);
    await page.getByText('8 to 128 characters').waitFor();
    expect(page.url()).toBe(`${service.url}/reset-password`);
    const both = (first: string, second = first) =>
      fill(page, { 'New password': first, 'New password, again': second });
    await both('a better password', 'another password');
    await page.getByText('must be the same as the new password').waitFor();
    await both('short');
    await page.getByText('must have 8 to 128 characters').waitFor();
    ada.Password = 'a better password';
    await both(ada.Password);
    await page.getByText('The new password of ada@example.com is set.').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await heading(page, 'Sign in');
    await fill(page, ada);
    await heading(page, 'Overview');
    expect((await service.get('/v1/auth/me', adminToken)).status).toBe(401);
    adminToken = await sessionIn(page);
    await visitor.closePages();
    const stale = await visitor.open('/reset-password?token=tnr_x');
    await fill(stale, { 'New password': password, 'New password, again': password });
    await stale.getByText('There is no such token').waitFor();
    await stale.getByRole('link', { name: 'Ask for another link' }).click();
    await heading(stale, 'Forgot your password?');
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
    await page.getByText(`${said} You can sign in, or sign up without it.`).waitFor();
    await heading(page, 'Sign in');
  });

  it('signs an invited person up, with the e-mail that the invite names', async () => {
    const { token } = await invite({ email: 'grace@example.com', role: 'developer' });
    const page = await invited(token, { width: 360 });
    await heading(page, 'Sign up');
    expect(await notice(page)).toBe('<b>Ada</b> invites you to join the team as developer.');
    expect(page.url()).toBe(`${service.url}/auth`);
    expect(await page.content()).not.toContain(token);
    expect(await page.getByLabel('E-mail').inputValue()).toBe('grace@example.com');
    expect(await page.getByLabel('E-mail').isEditable()).toBe(false);
    expect(await shortcomings(page)).toEqual([]);
    await fill(page, { Name: 'Grace', Password: password });
    await heading(page, 'Overview');
    const own = (await service.get('/v1/auth/me', await sessionIn(page))).body;
    expect(own).toMatchObject({ email: 'grace@example.com', role: 'developer' });
    await visitor.closePages();
    const again = await invited(token);
    await again.getByText(/^This invite has been redeemed\./).waitFor();
    await heading(again, 'Sign in');
  });

  it('says that sign-up is closed, and why', async () => {
    const full = 'Sign-up is closed: all 2 accounts of this deployment are taken.';
    const page = await visitor.open('/auth');
    await page.getByText(full).waitFor();
    expect(await page.getByRole('button', { name: 'Sign up' }).count()).toBe(0);
    await page.goto(`${service.url}/auth?invite=${encodeURIComponent((await invite()).token)}`);
    await heading(page, 'Sign up');
    expect(await notice(page)).toContain(full);
    await fill(page, { Name: 'Bob', 'E-mail': 'bob@example.com', Password: password });
    await page.getByRole('alert').waitFor();
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
    await heading(page, 'Sign in');
    await usable();
    await fill(page, { ...ada, Password: 'wrong password' });
    await page.getByRole('alert').waitFor();
    await usable();
    for (const path of ['/verify-email?token=x', '/reset-password?token=x']) {
      await page.goto(service.url + path);
      await page.getByRole('button').first().waitFor();
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

  it('shows the reference in the looks of the console, light and dark, and leads back to it', async () => {
    const looks = `JSON.stringify([getComputedStyle(document.body), getComputedStyle(document.querySelector('h1, h2'))]
      .map(({ backgroundColor, color, fontFamily }) => [backgroundColor, color, fontFamily]))`;
    const looksOf = async (path: string) => {
      const found: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await visitor.open(path, { colorScheme });
        await page.locator('h1, h2').first().waitFor();
        found.push(await page.evaluate<string>(looks));
      }
      return found;
    };
    expect(await looksOf('/docs')).toEqual(await looksOf('/auth'));
    const page = await visitor.open('/docs');
    await page.getByRole('link', { name: 'To the console' }).click();
    await heading(page, 'Sign in');
  });
});
