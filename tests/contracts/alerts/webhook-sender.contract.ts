import type { WebhookMessage, WebhookSender } from '../../../src/application/alerts/ports.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';

export interface SenderUnderTest {
  readonly sender: WebhookSender;
  readonly url: string;
  /** A URL that is not permitted. */
  readonly refused: string;
  /** Returns the ids and bodies of the messages that have arrived, oldest first. */
  received(): { readonly id: string; readonly body: string }[];
  /** Sets the status of the receiver's answers; null closes the connection instead. */
  answer(status: number | null): void;
  close(): Promise<void>;
}

export function webhookSenderContract(adapter: string, open: () => Promise<SenderUnderTest>) {
  describe(`WebhookSender by ${adapter}`, () => {
    let under: SenderUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.close());

    const message = (over: Partial<WebhookMessage> = {}): WebhookMessage => ({
      url: under.url,
      secret: under.sender.newSecret(),
      id: 'alr_1',
      body: '{"type":"ä \u{1F986}"}',
      sentAt: new Date(),
      ...over,
    });

    it('makes secrets of 32 bytes, no two alike', () => {
      const secrets = Array.from({ length: 20 }, () => under.sender.newSecret());
      expect(new Set(secrets).size).toBe(20);
      for (const secret of secrets) {
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
        expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
      }
    });

    it.each([200, 201, 204, 299])('posts, and takes %i for a success', async (status) => {
      under.answer(status);
      expect(await under.sender.post(message())).toEqual({ status, error: null });
      expect(under.received()).toEqual([{ id: 'alr_1', body: '{"type":"ä \u{1F986}"}' }]);
    });

    it.each([301, 302, 307, 308, 400, 404, 410, 429, 500, 503])('takes %i for a failure', async (status) => {
      under.answer(status);
      expect(await under.sender.post(message())).toEqual({ status, error: expect.any(String) });
      expect(under.received()).toHaveLength(1);
    });

    it('takes no answer for a failure', async () => {
      under.answer(null);
      expect(await under.sender.post(message())).toEqual({ status: null, error: expect.any(String) });
    });

    it('posts nothing where it may not', async () => {
      await expect(under.sender.check(under.url)).resolves.toBeUndefined();
      await expect(under.sender.check(under.refused)).rejects.toThrow(InvalidRequest);
      expect(await under.sender.post(message({ url: under.refused }))).toEqual({
        status: null,
        error: expect.any(String),
      });
      expect(under.received()).toEqual([]);
    });

    it('breaks off for the reason that the signal gives', async () => {
      const reason = new Error('the end');
      await expect(under.sender.post(message(), AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(under.received()).toEqual([]);
    });
  });
}
