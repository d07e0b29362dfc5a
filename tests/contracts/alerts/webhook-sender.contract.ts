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
    let rig: SenderUnderTest;
    beforeEach(async () => {
      rig = await open();
    });
    afterEach(() => rig.close());

    const message = (over: Partial<WebhookMessage> = {}): WebhookMessage => ({
      url: rig.url,
      secret: rig.sender.newSecret(),
      id: 'alr_1',
      body: '{"type":"ä \u{1F986}"}',
      sentAt: new Date(),
      ...over,
    });

    it('makes different secrets of 32 bytes', () => {
      const secrets = Array.from({ length: 20 }, () => rig.sender.newSecret());
      expect(new Set(secrets).size).toBe(20);
      for (const secret of secrets) {
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
        expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
      }
    });

    it.each([200, 201, 204, 299])('posts a message; status %i is a success', async (status) => {
      rig.answer(status);
      expect(await rig.sender.post(message())).toEqual({ status, error: null });
      expect(rig.received()).toEqual([{ id: 'alr_1', body: '{"type":"ä \u{1F986}"}' }]);
    });

    it.each([301, 302, 307, 308, 400, 404, 410, 429, 500, 503])('returns an error for status %i', async (status) => {
      rig.answer(status);
      expect(await rig.sender.post(message())).toEqual({ status, error: expect.any(String) });
      expect(rig.received()).toHaveLength(1);
    });

    it('returns an error without an answer', async () => {
      rig.answer(null);
      expect(await rig.sender.post(message())).toEqual({ status: null, error: expect.any(String) });
    });

    it('posts nothing to a URL that is not permitted', async () => {
      await expect(rig.sender.check(rig.url)).resolves.toBeUndefined();
      await expect(rig.sender.check(rig.refused)).rejects.toThrow(InvalidRequest);
      expect(await rig.sender.post(message({ url: rig.refused }))).toEqual({
        status: null,
        error: expect.any(String),
      });
      expect(rig.received()).toEqual([]);
    });

    it('throws the reason of an aborted signal and posts nothing', async () => {
      const reason = new Error('the end');
      await expect(rig.sender.post(message(), AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(rig.received()).toEqual([]);
    });
  });
}
