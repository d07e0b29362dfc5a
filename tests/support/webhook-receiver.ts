import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { LocalServer } from './local-server.js';

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Runs a real HTTP server that keeps all posts. A test scripts its answers. */
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

/** Answers with this status and an empty body. */
export const answering =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(status, headers).end();

/** Returns a posted body after the public library has checked its signature. Throws if the signature is wrong. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any post
export const verified = (secret: string, { body, headers }: Posted): any =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
