import { type Answer, codeOf } from '../../support/http-caller.js';

/** Returns the status and the code of a refusal, in the form of the service or of OpenAI. */
export const statusAndCode = (answer: Pick<Answer, 'status' | 'body'>): string => `${answer.status} ${codeOf(answer)}`;

/** Describes refusals, for `toMatchObject`. */
export const refusal = (status: number, code: string) => ({ status, body: { code } });

export const invalid = (...paths: string[]) => ({
  status: 422,
  body: { code: 'invalid_request', details: paths.map((path) => ({ path })) },
});

export const notFound = refusal(404, 'not_found');

export const stale = (current: number) => ({
  status: 409,
  body: { code: 'stale_version', details: [{ path: 'version', message: expect.any(String), current }] },
});
