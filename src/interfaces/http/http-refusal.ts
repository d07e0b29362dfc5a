import { type RefusalCode, refusals } from './refusals.js';

/** A refusal that only HTTP knows: of the way a request was sent, not of what it asks for. */
export class HttpRefusal extends Error {
  readonly status: number;

  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = refusals[code].status;
  }
}

export function methodNotAllowed(allowed: readonly string[]): HttpRefusal {
  const Allow = allowed.join(', ');
  return new HttpRefusal('method_not_allowed', `This path takes ${Allow}.`, { Allow });
}
