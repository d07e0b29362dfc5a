import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP server that keeps what is posted to it and answers as a test tells it to. */
export class WebhookReceiver {
  readonly posted: Posted[] = [];
  answer: (response: ServerResponse, posted: Posted) => unknown = (response) => response.end();
  /** How many connections there were. */
  came = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.came++;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', async (request, response) => {
      const { url: path = '', headers } = request;
      const posted = { path, headers, body: await text(request) };
      this.posted.push(posted);
      this.answer(response, posted);
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WebhookReceiver(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/in?key=private`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** An answer with this status, and nothing else. */
export const answering =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(status, headers).end();

/** Returns a posted body after the public library has checked its signature. Throws if the signature is wrong. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
export const verified = (secret: string, { body, headers }: Posted): any =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
