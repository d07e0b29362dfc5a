import { query } from './database.js';
import type { CallOptions, HttpCaller } from './http-caller.js';
import type { Service } from './service.js';
import { type Member, moveToOwnTeam, register } from './workspace.js';

export const masterKey = 'master-key-of-the-tests';

/** Contains an account of each kind, all with verified e-mail addresses. */
export interface Cast {
  /** The admin of the operator team. */
  readonly admin: Member;
  readonly developer: Member;
  readonly member: Member;
  /** The admin of another team. */
  readonly regular: Member;
}

export async function castOf(service: Service): Promise<Cast> {
  const databaseUrl = service.databaseUrl as string;
  const [admin, developer, member, regular] = [
    await register(service, 'Ada'),
    await register(service, 'Dan'),
    await register(service, 'Mia'),
    await register(service, 'Eve'),
  ];
  await moveToOwnTeam(databaseUrl, regular.id);
  await query(databaseUrl, 'UPDATE accounts SET email_verified_at = now()');
  const { status } = await service.call('PATCH', `/v1/auth/users/${developer.id}/role`, {
    token: admin.token,
    json: { role: 'developer' },
  });
  if (status !== 200) throw new Error(`role: ${status}`);
  return { admin, developer, member, regular };
}

/** Returns functions that call the service with this token. */
export const as = (service: HttpCaller, token: string) => {
  const call = async (method: string, path: string, options: CallOptions = {}) => {
    const { status, body } = await service.call(method, path, { token, ...options });
    return { status, body };
  };
  const done = async (method: string, path: string, json?: object) => {
    const { status, body } = await call(method, path, { json });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    call,
    get: (path: string) => done('GET', path),
    /** Creates a job that runs elsewhere. */
    job: (more: object = {}) => done('POST', '/v1/jobs', { kind: 'external', name: 'nightly training', ...more }),
    report: (id: string, change: object) => done('PATCH', `/v1/jobs/${id}`, change),
    /** Creates a job and ends it at once. */
    async ended(status: string, more: object = {}) {
      const { id } = await this.job(more);
      return done('PATCH', `/v1/jobs/${id}`, { status });
    },
    rule: (rule: object = {}) =>
      done('POST', '/v1/alerts/rules', {
        name: 'training fails',
        rule_type: 'consecutive_failures',
        threshold: 2,
        ...rule,
      }),
    alerts: async (query = '') => (await done('GET', `/v1/alerts${query}`)).alerts,
  };
};
