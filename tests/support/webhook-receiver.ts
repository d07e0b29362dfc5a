import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { LocalServer } from './local-server.js';

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP server that keeps what is posted to it and answers as a test tells it to. */
export class WebhookReceiver extends LocalServer {
  readonly posted: Posted[] = [];
  answer: (response: ServerResponse, posted: Posted) => unknown = (response) => response.end();

  static start(): Promise<WebhookReceiver> {
    return new WebhookReceiver().listen();
  }

  get url(): string {
    return `http://${this.host}/in?key=private`;
  }

  stop(): Promise<void> {
    return this.close();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '', headers } = request;
    const posted = { path, headers, body: await text(request) };
    this.posted.push(posted);
    this.answer(response, posted);
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
