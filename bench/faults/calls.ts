import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, HttpCaller } from '../../tests/support/http-caller.js';
import type { Member } from '../../tests/support/workspace.js';

export interface Call {
  readonly begun: number;
  readonly ended: number;
  /** `done`, or the status and the code of a refusal, or the reason why there was no answer. */
  readonly outcome: string;
}

/** Ends a call without an answer. It is longer than any call should take. */
const GIVE_UP_MS = 20_000;
const PAUSE_MS = 5;

/** Runs callers, each of which makes one call after another, and records each outcome. */
export class Calls {
  readonly made: Call[] = [];
  private over = false;
  private readonly ended: Promise<unknown>;

  constructor(
    private readonly api: HttpCaller,
    private readonly admin: Member,
    callers: number,
  ) {
    this.ended = Promise.all(Array.from({ length: callers }, (_, n) => this.caller(n)));
  }

  /** Ends the callers. Revokes their invites, because a team may have at most 1,000 pending ones. */
  async stop(): Promise<void> {
    this.over = true;
    await this.ended;
    const { body } = await this.api.get('/v1/auth/invites', this.admin.token);
    for (const { id } of body.invites) await this.api.delete(`/v1/auth/invites/${id}`, this.admin.token);
  }

  private async caller(n: number): Promise<void> {
    for (let round = n; !this.over; round++) {
      const begun = performance.now();
      const outcome = await this.call(round).then(
        ({ status, body }) => (status < 300 ? 'done' : `${status} ${body.code}`),
        (error: Error) => `no answer (${error.message})`,
      );
      this.made.push({ begun, ended: performance.now(), outcome });
      await pause(PAUSE_MS);
    }
  }

  /** Makes a read, a short transaction, or a transaction of many statements. */
  private call(round: number): Promise<Answer> {
    const { api, admin } = this;
    const signal = AbortSignal.timeout(GIVE_UP_MS);
    const read = (path: string, token: string) => api.call('GET', path, { token, signal });
    const make = (path: string, json: object) => api.call('POST', path, { token: admin.token, json, signal });
    switch (round % 5) {
      case 0:
        return read('/v1/auth/me', admin.token);
      case 1:
        return read('/v1/jobs?limit=5', admin.apiKey);
      case 2:
        return make('/v1/projects', { name: 'load' });
      case 3:
        return read('/v1/projects', admin.token);
      default:
        return make('/v1/auth/invites', { role: 'member' });
    }
  }
}
