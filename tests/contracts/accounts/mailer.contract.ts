import type { Mailer } from '../../../src/application/accounts/ports.js';
import type { Message } from '../../../src/domain/accounts/mailed-token.js';
import type { ReceivedMail } from '../../support/eml.js';
import { aMessage } from '../../support/records.js';

export interface MailerUnderTest {
  readonly mailer: Mailer;
  /** Returns the mails that have arrived, and their recipients. */
  received(): (Omit<ReceivedMail, 'headers' | 'from'> & { readonly recipients: readonly string[] })[];
  /** Makes every delivery fail until `mend` is called. */
  breakDown(): Promise<void>;
  mend(): Promise<void>;
}

export function mailerContract(adapter: string, open: () => Promise<MailerUnderTest>) {
  describe(`Mailer of ${adapter}`, () => {
    let rig: MailerUnderTest;
    beforeEach(async () => {
      rig = await open();
    });

    it.each<[string, Partial<Message>]>([
      ['plain', {}],
      [
        'beyond ASCII',
        {
          to: { name: 'Åse O’Neill', address: 'ase@example.com' },
          subject: 'Grüße, 王秀英 🦆',
          text: 'Grüße\n=20\n',
          html: '<p>王</p>\n',
        },
      ],
      ['lines with a single dot, with From, and empty lines', { text: 'a\n.\n..\n\nFrom b\n.c\n' }],
      [
        'long lines',
        { subject: 'long '.repeat(60).trim(), text: `${'x'.repeat(3_000)}\n`, html: `<p>${'y '.repeat(2_000)}</p>\n` },
      ],
      [
        'a name with punctuation',
        { to: { name: 'Ada "A." <Countess>, (of) Lovelace; @ home', address: 'ada@example.com' } },
      ],
    ])('sends the whole message: %s', async (_, over) => {
      const message = aMessage(over);
      await rig.mailer.send('msg_1', message);
      const [mail, ...more] = rig.received();
      expect(more).toEqual([]);
      const { text, html } = message;
      expect({ ...mail, text: mail?.text.trimEnd(), html: mail?.html.trimEnd() }).toMatchObject({
        to: [message.to],
        recipients: [message.to.address],
        subject: message.subject,
        text: text.trimEnd(),
        html: html.trimEnd(),
      });
    });

    it('reaches only its recipient, also with a forged name or subject', async () => {
      const forged = 'Ada\r\nBcc: eve@evil.example\r\n\r\nHello <eve@evil.example>, "Eve" <eve@evil.example>';
      const message = aMessage({ to: { name: forged, address: 'ada@example.com' }, subject: forged });
      await rig.mailer.send('msg_1', message);
      const [mail] = rig.received();
      expect(mail?.recipients).toEqual(['ada@example.com']);
      expect(mail?.to.map(({ address }) => address)).toEqual(['ada@example.com']);
      expect(mail?.text.trimEnd()).toBe(message.text.trimEnd());
    });

    it('uses the same Message-ID for the same id, and different ones for different ids', async () => {
      const message = aMessage();
      for (const id of ['msg_1', 'msg_1', 'msg_2']) await rig.mailer.send(id, message);
      const ids = new Set(rig.received().map(({ messageId }) => messageId));
      expect(ids.size).toBe(2);
      for (const id of ids) expect(id).toMatch(/^<msg_[12]@[^<>@\s]+>$/);
    });

    it('returns the place of delivery, without content of the message', async () => {
      const token = 'tnv_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM';
      const link = `https://tenon.example/verify-email?token=${token}`;
      const message = aMessage({
        subject: 'A private matter',
        text: `Open ${link}`,
        html: `<a href="${link}">Open</a>`,
      });
      const where = await rig.mailer.send('msg_1', message);
      expect(where).not.toBe('');
      for (const secret of [token, 'verify-email', 'private', 'Open', 'ada@example.com', 'Lovelace'])
        expect(where).not.toContain(secret);
    });

    it('throws when it cannot deliver, and delivers when it can again', async () => {
      await rig.breakDown();
      await expect(rig.mailer.send('msg_1', aMessage())).rejects.toThrow();
      expect(rig.received()).toEqual([]);
      await rig.mend();
      await rig.mailer.send('msg_1', aMessage());
      expect(rig.received()).toHaveLength(1);
    });
  });
}
