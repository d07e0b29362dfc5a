import {
  AddressGuard,
  HttpWebhookSender,
  type Resolver,
} from '../../../src/infrastructure/webhooks/http-webhook-sender.js';
import { MemoryWebhookSender } from '../../fakes/alerts/memory-webhook-sender.js';
import { answering, verified, WebhookReceiver } from '../../support/webhook-receiver.js';
import { webhookSenderContract } from './webhook-sender.contract.js';

const LOOPBACK = ['127.0.0.0/8'];
const PATIENT_MS = 60_000;

webhookSenderContract('HTTP', async () => {
  const receiver = await WebhookReceiver.start();
  return {
    sender: new HttpWebhookSender(new AddressGuard(LOOPBACK), PATIENT_MS),
    url: receiver.url,
    refused: 'https://10.0.0.1/',
    received: () => receiver.posted.map(({ headers, body }) => ({ id: String(headers['webhook-id']), body })),
    answer(status) {
      receiver.answer = status === null ? (response) => response.destroy() : answering(status);
    },
    close: () => receiver.stop(),
  };
});

webhookSenderContract('memory', async () => {
  const sender = new MemoryWebhookSender();
  sender.refused.add('refused.example');
  return {
    sender,
    url: 'https://hooks.example.com/',
    refused: 'https://refused.example/',
    received: () => sender.posted.map(({ id, body }) => ({ id, body })),
    answer(status) {
      sender.status = status;
    },
    close: async () => undefined,
  };
});

describe('WebhookSender by HTTP', () => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterEach(() => receiver.stop());

  /** Resolves every name to the next address of the list. The last address is repeated. */
  const resolving = (...answers: string[]): Resolver & { asked: number } => {
    const resolve = (_name: string, _options: unknown, answer: Parameters<Resolver>[2]) => {
      const address = answers[Math.min(resolver.asked++, answers.length - 1)] as string;
      answer(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    };
    const resolver = Object.assign(resolve, { asked: 0 });
    return resolver;
  };
  const sender = new HttpWebhookSender(new AddressGuard(LOOPBACK), PATIENT_MS);
  const message = (over: object = {}) => ({
    url: receiver.url,
    secret: sender.newSecret(),
    id: 'alr_1',
    body: '{"type":"alert.fired","text":"ä \u{1F986}"}',
    sentAt: new Date(),
    ...over,
  });

  it('signs messages as Standard Webhooks defines', async () => {
    const sent = message();
    await sender.post(sent);
    const [posted] = receiver.posted;
    if (!posted) throw new Error('nothing has come');
    expect(posted.path).toBe('/in?key=private');
    expect(posted.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      'content-type': 'application/json',
      'webhook-id': 'alr_1',
      'webhook-timestamp': String(Math.floor(sent.sentAt.getTime() / 1_000)),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(verified(sent.secret, posted)).toEqual(JSON.parse(sent.body));
    expect(() => verified(sender.newSecret(), posted)).toThrow();
    expect(() => verified(sent.secret, { ...posted, body: `${posted.body} ` })).toThrow();
    expect(() => verified(sent.secret, { ...posted, headers: { ...posted.headers, 'webhook-id': 'alr_2' } })).toThrow();
  });

  it('follows no redirect', async () => {
    receiver.answer = answering(307, { Location: `http://127.0.0.1:${receiver.port}/other` });
    expect(await sender.post(message())).toEqual({ status: 307, error: 'answered with status 307' });
    expect(receiver.posted).toHaveLength(1);
  });

  it('checks the address again when it connects, in case the name resolves to another address', async () => {
    const rebinding = resolving('93.184.215.14', '127.0.0.1');
    const strict = new HttpWebhookSender(new AddressGuard([], rebinding), PATIENT_MS);
    const url = `https://rebinding.example:${receiver.port}/`;
    await strict.check(url);
    expect(await strict.post(message({ url }))).toEqual({
      status: null,
      error: 'the host leads to an address that is not allowed',
    });
    expect({ asked: rebinding.asked, came: receiver.accepted }).toEqual({ asked: 2, came: 0 });
  });

  it.each(['http', 'https'])('refuses a forbidden address in the URL itself (%s)', async (protocol) => {
    const strict = new HttpWebhookSender(new AddressGuard(['10.0.0.0/8']), PATIENT_MS);
    const url = `${protocol}://127.0.0.1:${receiver.port}/`;
    expect(await strict.post(message({ url }))).toEqual({
      status: null,
      error: 'the host leads to an address that is not allowed',
    });
    expect(receiver.accepted).toBe(0);
  });

  it('resolves the name once for a post and connects to that address', async () => {
    const rebinding = resolving('127.0.0.1', '10.0.0.1');
    const lenient = new HttpWebhookSender(new AddressGuard(LOOPBACK, rebinding), PATIENT_MS);
    const url = `http://receiver.example:${receiver.port}/`;
    expect(await lenient.post(message({ url }))).toEqual({ status: 200, error: null });
    expect(receiver.posted[0]?.headers.host).toBe(`receiver.example:${receiver.port}`);
    expect(rebinding.asked).toBe(1);
  });

  it('gives up after the timeout if a name is not resolved or a host does not answer', async () => {
    const late = { status: null, error: 'no answer within 0.3 s' };
    const nameless = new HttpWebhookSender(new AddressGuard([], () => undefined), 300);
    const url = 'https://nameless.example/';
    expect(await nameless.post(message({ url }))).toEqual(late);
    await expect(nameless.check(url)).rejects.toThrow('must name a host that can be resolved');
    receiver.answer = () => undefined;
    expect(await new HttpWebhookSender(new AddressGuard(LOOPBACK), 300).post(message())).toEqual(late);
  });

  it('has delivered when the status arrives, also if the connection breaks afterwards', async () => {
    receiver.answer = (response) => response.writeHead(202).write('and', () => response.destroy());
    expect(await sender.post(message())).toEqual({ status: 202, error: null });
  });

  it('does not read an endless answer', async () => {
    let open = true;
    receiver.answer = (response) => {
      response.on('close', () => {
        open = false;
      });
      const flood = () => {
        while (open && response.write(Buffer.alloc(64 * 1024)));
        if (open) response.once('drain', flood);
      };
      flood();
    };
    expect(await sender.post(message())).toEqual({ status: 200, error: null });
  });

  it('returns an error for receivers that speak no HTTP or switch protocols', async () => {
    receiver.answer = (response) => response.socket?.end('nonsense\r\n\r\n');
    expect(await sender.post(message())).toEqual({ status: null, error: 'the receiver does not speak HTTP' });
    receiver.answer = (response) =>
      response.socket?.end('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    expect(await sender.post(message())).toMatchObject({ status: null });
    receiver.answer = (response) => response.destroy();
    expect(await sender.post(message())).toEqual({ status: null, error: 'the receiver closed the connection' });
    const unheard = message();
    await receiver.stop();
    expect(await sender.post(unheard)).toEqual({ status: null, error: 'the receiver refuses connections' });
    receiver = await WebhookReceiver.start();
  });

  it('says why it refuses an address, but not the address', async () => {
    const strict = new HttpWebhookSender(new AddressGuard([], resolving('10.1.2.3')), PATIENT_MS);
    await expect(strict.check('https://inside.example/')).rejects.toThrow(/not on the public internet/);
    await expect(strict.check('http://93.184.215.14/')).rejects.toThrow('must be an https:// URL, or whoever runs');
    await expect(strict.check('https://inside.example/')).rejects.not.toThrow('10.1.2.3');
  });
});
