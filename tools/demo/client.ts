import { expect } from './steps.js';

// biome-ignore lint/suspicious/noExplicitAny: each step checks its answer
type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

interface Options {
  readonly body?: unknown;
  /** Session token or API key. */
  readonly as?: string | undefined;
}

/** Calls the API with JSON over HTTP. Each call has a time limit. */
export class Client {
  constructor(
    private readonly baseUrl: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Sends a request. Throws Deviation if the status or the answer is not as expected. */
  async call(
    request: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
    { body, as }: Options,
    status: number,
    expected: object,
  ): Promise<Answer> {
    const [method, path] = request.split(' ') as [string, string];
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(as && { Authorization: `Bearer ${as}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([this.signal, AbortSignal.timeout(30_000)]),
    });
    const answer = { status: response.status, headers: response.headers, body: (await response.json()) as Json };
    expect({ status: answer.status, body: answer.body }, { status, body: expected });
    return answer;
  }

  /** Sends a request that must be refused. Checks the error envelope and its request id. */
  async refused(
    request: Parameters<Client['call']>[0],
    options: Options,
    status: number,
    code: string,
  ): Promise<Answer> {
    const answer = await this.call(request, options, status, { status: 'error', code, error: /./ });
    expect(answer.body.request_id, answer.headers.get('x-request-id'));
    return answer;
  }
}
