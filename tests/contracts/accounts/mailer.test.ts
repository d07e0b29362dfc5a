import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { FolderMailer, SmtpMailer } from '../../../src/infrastructure/smtp/mailers.js';
import { MemoryMailer } from '../../fakes/accounts/memory-mailer.js';
import { parseMail } from '../../support/eml.js';
import { MailServer } from '../../support/mail-server.js';
import { aMessage, unique } from '../../support/records.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { mailerContract } from './mailer.contract.js';

const FROM = 'Tenon <tenon@mail.example>';
const temporary = new TemporaryFolder();
const servers: MailServer[] = [];
const started = async (login?: { user: string; password: string }) => {
  const server = await MailServer.start(login);
  servers.push(server);
  return server;
};
const mailsIn = (folder: string) =>
  (statSync(folder).isDirectory() ? readdirSync(folder) : [])
    .sort()
    .map((name) => parseMail(readFileSync(join(folder, name))));

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
afterAll(() => temporary.remove());

mailerContract('SMTP', async () => {
  const server = await started();
  return {
    mailer: new SmtpMailer(server.url, FROM),
    received: () => server.received,
    breakDown: async () => {
      server.refuses = 'messages';
    },
    mend: async () => {
      server.refuses = 'nothing';
    },
  };
});

mailerContract('a folder', async () => {
  const folder = join(temporary.path, unique());
  return {
    mailer: new FolderMailer(folder, FROM),
    received: () => mailsIn(folder).map((mail) => ({ ...mail, recipients: mail.to.map(({ address }) => address) })),
    breakDown: async () => {
      writeFileSync(`${folder}.file`, '');
      renameSync(`${folder}.file`, folder);
    },
    mend: async () => {
      renameSync(folder, `${folder}.file`);
      mkdirSync(folder);
    },
  };
});

mailerContract('memory', async () => {
  const mailer = new MemoryMailer();
  const received = () =>
    mailer.sent.map(({ id, message: { to, ...content } }) => ({
      ...content,
      messageId: `<${id}@memory>`,
      to: [to],
      recipients: [to.address],
    }));
  const breakDown = async () => {
    mailer.failure = new Error('down');
  };
  const mend = async () => {
    mailer.failure = null;
  };
  return { mailer, received, breakDown, mend };
});

describe('Mailer of SMTP', () => {
  it('sends from the configured sender, and marks the mail as generated', async () => {
    const server = await started();
    await new SmtpMailer(server.url, FROM).send('msg_1', aMessage());
    expect(server.received).toMatchObject([
      { sender: 'tenon@mail.example', from: FROM, messageId: '<msg_1@mail.example>' },
    ]);
    expect(server.received[0]?.headers.get('auto-submitted')).toBe('auto-generated');
  });

  it('signs in with user and password of its URL', async () => {
    const server = await started({ user: 'tenon@mail.example', password: 'p@ss/wörd' });
    await new SmtpMailer(server.url, FROM).send('msg_1', aMessage());
    expect(server.received).toHaveLength(1);
    const stranger = new SmtpMailer(server.url.replace('%40ss', 'ss'), FROM);
    await expect(stranger.send('msg_1', aMessage())).rejects.toThrow();
  });

  it('throws when the server refuses the recipient, and when no server listens', async () => {
    const server = await started();
    const mailer = new SmtpMailer(server.url, FROM);
    server.refuses = 'recipients';
    await expect(mailer.send('msg_1', aMessage())).rejects.toThrow('no such mailbox');
    await server.stop();
    await expect(mailer.send('msg_1', aMessage())).rejects.toThrow('ECONNREFUSED');
  });

  it('gives up on a server that goes on answering without an end', async () => {
    const slow = createServer((socket) => {
      const timer = setInterval(() => socket.write('220-wait\r\n'), 20);
      socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    });
    slow.listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const sockets = new Set<Socket>();
    slow.on('connection', (socket) => sockets.add(socket));
    const mailer = new SmtpMailer(`smtp://127.0.0.1:${(slow.address() as AddressInfo).port}`, FROM, 200);
    await expect(mailer.send('m_1', aMessage())).rejects.toThrow('took longer than 0.2 s');
    for (const socket of sockets) socket.destroy();
    slow.close();
  });

  it('reaches addresses beyond ASCII', async () => {
    const server = await started();
    const to = { name: 'Åse', address: 'åse@exämple.com' };
    await new SmtpMailer(server.url, FROM).send('msg_1', aMessage({ to }));
    expect(server.received[0]?.recipients).toEqual(['åse@exämple.com']);
  });
});

describe('Mailer of a folder', () => {
  it('writes one file for a mail that is sent twice; only the service’s user can read it', async () => {
    const folder = join(temporary.path, unique());
    const mailer = new FolderMailer(folder, FROM);
    const paths = [await mailer.send('msg_1', aMessage()), await mailer.send('msg_1', aMessage({ text: 'again' }))];
    expect(paths).toEqual(Array(2).fill(join(folder, 'msg_1.eml')));
    expect(readdirSync(folder)).toEqual(['msg_1.eml']);
    expect(mailsIn(folder)[0]).toMatchObject({ text: 'again', from: FROM });
    expect(statSync(join(folder, 'msg_1.eml')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('does not break a link into several lines', async () => {
    const folder = join(temporary.path, unique());
    const link = `https://tenon.example/verify-email?token=tnv_${'x'.repeat(200)}`;
    const path = await new FolderMailer(folder, FROM).send('msg_1', aMessage({ text: `Open\n${link}\n` }));
    expect(readFileSync(path, 'utf8').split('\r\n')).toContain(link);
  });

  it('never shows a partial mail under the name of a mail', async () => {
    const folder = join(temporary.path, unique());
    const mailer = new FolderMailer(folder, FROM);
    await mailer.send('msg_1', aMessage());
    mkdirSync(join(folder, 'msg_2.eml.part'));
    await expect(mailer.send('msg_2', aMessage())).rejects.toThrow();
    expect(readdirSync(folder).filter((name) => name.endsWith('.eml'))).toEqual(['msg_1.eml']);
  });
});
