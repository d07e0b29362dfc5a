import { appendFileSync } from 'node:fs';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any answer
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, to be sent as JSON. */
  readonly json?: unknown;
  /** The body, to be sent unchanged. */
  readonly raw?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** True if the services of the tests are several processes behind a proxy (`npm run test:scaled`). */
export const SCALED = Number(process.env.TENON_TEST_PROCESSES ?? 1) > 1;

/** Tells whether a refusal can come before the whole body is sent. A connection that closes would lose the refusal. */
const isLong = (body?: string | Uint8Array) => (body?.length ?? 0) > 16_384;

interface Whole {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Makes a call with Node's own client. `fetch` takes as much processor time as the tested service. */
function exchange(url: string, body: string | Uint8Array | undefined, options: RequestOptions): Promise<Whole> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const take = async (response: IncomingMessage) => {
      answered = true;
      const headers = new Headers();
      const { rawHeaders: raw, statusCode = 0 } = response;
      for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] as string, raw[at + 1] as string);
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      resolve({ status: statusCode, headers, text });
    };
    request(url, options, (response) => take(response).catch(reject))
      // After the answer has begun, the rest of the body may meet a closed connection.
      .on('error', (error) => !answered && reject(error))
      .end(body);
  });
}

/** Calls the API as a consumer does. Notes the answers for the check that the tests see every refusal. */
export class HttpCaller {
  /** False for the program of an earlier release: its answers lack the newer fields of `openapi.json`. */
  isDocumented = true;

  constructor(readonly url: string) {}

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { token, json, raw, signal } = options;
    const body = json === undefined ? raw : JSON.stringify(json);
    const { status, headers, text } = await exchange(this.url + path, body, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body), // Node sends none with a DELETE
        }),
        ...(SCALED && !isLong(body) && { Connection: 'close' }), // so that the next call goes to the next process
        ...options.headers,
      },
      ...(signal && { signal }),
    });
    const isJson = method !== 'HEAD' && headers.get('content-type')?.startsWith('application/json');
    const answer = { status, headers, body: isJson ? JSON.parse(text) : text };
    if (this.isDocumented) note(method, path, answer);
    return answer;
  }

  get = (path: string, token?: string) => this.call('GET', path, { token });
  post = (path: string, token?: string, json?: unknown) => this.call('POST', path, { token, json });
  put = (path: string, token?: string, json?: unknown) => this.call('PUT', path, { token, json });
  delete = (path: string, token?: string) => this.call('DELETE', path, { token });
}

declare global {
  /** Comes from `environment.cjs`. Absent outside jest. */
  var undocumented:
    | ((method: string, path: string, answer: Pick<Answer, 'status' | 'body'>) => string | null)
    | undefined;
}

/** Returns the code of a refusal, in the form of the service, of OpenAI or of Anthropic. */
export const codeOf = ({ body }: Pick<Answer, 'body'>): string | undefined =>
  body?.code ?? body?.error?.code ?? body?.error?.details?.error_code;

/** Writes one line for `refusals-reporter.cjs`. Throws if the answer is not as `openapi.json` says. */
export function note(method: string, path: string, { status, body }: Pick<Answer, 'status' | 'body'>): void {
  const wrong = globalThis.undocumented?.(method, path, { status, body });
  if (wrong) throw new Error(wrong);
  const file = process.env.TENON_TEST_ANSWERS;
  if (!file) return;
  const code = status >= 400 ? codeOf({ body }) : 'success';
  appendFileSync(file, `${JSON.stringify({ method, path: path.split('?')[0], status, code })}\n`);
}
