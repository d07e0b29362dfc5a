import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { parseMail, type ReceivedMail } from './eml.js';

/** Runs a real SMTP server that keeps its e-mails. */
export class MailServer {
  readonly received: (ReceivedMail & { readonly recipients: readonly string[]; readonly sender: string })[] = [];
  /** Refuses nothing, every recipient, or every message after all of it has come. */
  refuses: 'nothing' | 'recipients' | 'messages' = 'nothing';
  private readonly server: SMTPServer;

  private constructor(private readonly login: { readonly user: string; readonly password: string } | null) {
    this.server = new SMTPServer({
      authOptional: login === null,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      onAuth: ({ username, password }, _session, done) =>
        username === login?.user && password === login?.password
          ? done(null, { user: username })
          : done(new Error('who are you?')),
      onRcptTo: (_address, _session, done) =>
        done(this.refuses === 'recipients' ? refusal(550, 'no such mailbox') : null),
      onData: (stream, { envelope }, done) => {
        text(stream).then((source) => {
          if (this.refuses === 'messages') return done(refusal(552, 'mailbox full'));
          const recipients = envelope.rcptTo.map(({ address }) => address);
          const sender = envelope.mailFrom ? envelope.mailFrom.address : '';
          this.received.push({ ...parseMail(source), recipients, sender });
          done();
        }, done);
      },
    });
    this.server.on('error', () => undefined);
  }

  static async start(login: { user: string; password: string } | null = null): Promise<MailServer> {
    const one = new MailServer(login);
    await new Promise<void>((resolve) => one.server.listen(0, '127.0.0.1', resolve));
    return one;
  }

  get url(): string {
    const who = this.login ? `${encodeURIComponent(this.login.user)}:${encodeURIComponent(this.login.password)}@` : '';
    return `smtp://${who}127.0.0.1:${(this.server.server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

const refusal = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });
