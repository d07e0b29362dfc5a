import type { Answer, HttpCaller } from '../http-caller.js';
import { type Member, password, readyProject, registeredModel } from '../workspace.js';
import type { Endpoint } from './document.js';
import type { Credential } from './requests.js';

/** Contains the callers of the generated requests. */
export interface Cast {
  readonly admin: Member;
  readonly developer: Member;
  readonly member: Member;
  /** The admin of another team. */
  readonly stranger: Member;
  readonly masterKey: string;
}

const MODEL_PATH = 'vision/iris.onnx';
const EXAMPLE_ID = /\b([a-z]{3})_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11\b/g;
const EXAMPLE_INVITE = /\btni_(Example){7}\b/g;

/** Keeps tokens and the ids of existing objects. Replaces those that a request has ended. */
export class World {
  private readonly ids = new Map<string, string>();
  private readonly tokens: Map<Credential, string>;
  private inviteToken = '';
  private count = 0;

  constructor(
    private readonly caller: HttpCaller,
    { admin, developer, member, stranger, masterKey }: Cast,
    /** The ONNX file for deployments. Absent if the service has a fake model server, which loads no file. */
    private readonly modelFile?: Uint8Array,
  ) {
    this.tokens = new Map([
      ['garbage', `tns_${'a'.repeat(49)}`],
      ['admin', admin.token],
      ['developer', developer.token],
      ['member', member.token],
      ['stranger', stranger.token],
      ['api_key', admin.apiKey],
      ['master', masterKey],
    ]);
  }

  /** Returns the token of a caller, and the name of its kind in the OpenAPI document. */
  credential(name: Credential, { security }: Endpoint): { kind: string | null; token: string | undefined } {
    const taken = security.flatMap((one) => Object.keys(one));
    const fitting = (['session', 'api_key', 'master'] as const).find((kind) => taken.includes(kind)) ?? 'none';
    const own = name !== 'fitting' ? name : fitting === 'session' ? 'admin' : fitting;
    const kind = own === 'api_key' || own === 'master' ? own : own === 'none' || own === 'garbage' ? null : 'session';
    return { kind, token: this.tokens.get(own) };
  }

  /** Replaces the ids of examples by those of existing objects. */
  async filled(text: string): Promise<string> {
    for (const [id, kind = ''] of text.matchAll(EXAMPLE_ID)) {
      if (!this.ids.has(kind)) this.ids.set(kind, (await this.makers[kind]?.()) ?? id);
    }
    return text
      .replace(EXAMPLE_ID, (id, kind: string) => this.ids.get(kind) ?? id)
      .replace(EXAMPLE_INVITE, (token) => this.inviteToken || token);
  }

  /** Forgets the objects that a successful request may have ended. Replaces the tokens that it has ended. */
  async afterwards({ method, path, operationId }: Endpoint, { status }: Answer): Promise<void> {
    if (status >= 300 || method === 'GET') return;
    const [, name = ''] = path.match(/.*\{(\w+)_id\}/) ?? [];
    if (name === 'project') {
      if (method === 'DELETE' || path.includes('/runtime'))
        for (const kind of ['prj', 'dst', 'mdl', 'cnv']) this.ids.delete(kind);
    } else this.ids.delete(kinds[name] ?? '');
    if (operationId === 'logout') await this.logIn();
  }

  private async logIn(): Promise<void> {
    const names = { admin: 'ada', developer: 'dan', member: 'mia', stranger: 'eve' } as const;
    for (const [name, address] of Object.entries(names)) {
      const { body } = await this.post('/v1/auth/login', { email: `${address}@example.com`, password }, null);
      this.tokens.set(name as Credential, body.token);
    }
  }

  private async post(path: string, json?: object, token: string | null = this.admin, headers = {}): Promise<Answer> {
    const answer = await this.caller.call('POST', path, { token: token ?? undefined, json, headers });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  private async uploadModel(): Promise<void> {
    if (!this.modelFile) return;
    const headers = { 'Content-Type': 'application/octet-stream' };
    const options = { token: this.admin, headers, raw: this.modelFile };
    await this.caller.call('PUT', `/v1/model-files/${MODEL_PATH}`, options);
  }

  private get admin(): string {
    return this.tokens.get('admin') as string;
  }

  private async idOf(kind: string): Promise<string> {
    return this.filled(`${kind}_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11`);
  }

  private readonly makers: Readonly<Record<string, () => Promise<string>>> = {
    usr: async () => {
      const email = `user${++this.count}@example.com`;
      return (await this.post('/v1/auth/register', { name: 'Una', email, password }, null)).body.user.id;
    },
    inv: async () => {
      const { body } = await this.post('/v1/auth/invites', {});
      this.inviteToken = body.token;
      return body.id;
    },
    ses: async () => {
      await this.logIn();
      const { body } = await this.caller.get('/v1/auth/sessions', this.admin);
      return body.sessions.find(({ current }: { current: boolean }) => !current).id;
    },
    key: async () => (await this.post('/v1/keys', {})).body.id,
    prj: () => readyProject(this.caller, this.admin),
    dst: async () => {
      const datasets = `/v1/projects/${await this.idOf('prj')}/datasets`;
      const records = [{ input: 'France', expected: 'Paris' }];
      const { id } = (await this.post(datasets, { name: 'Capitals', records })).body;
      if (++this.count % 2) await this.post(`${datasets}/${id}/freeze`, { version: 1 });
      return id;
    },
    mdl: async () => {
      const project = await this.idOf('prj');
      if (++this.count % 2) return registeredModel(this.caller, this.admin, project);
      const json = { request_id: crypto.randomUUID(), spec: {} };
      return (await this.post(`/v1/projects/${project}/models`, json)).body.id;
    },
    cnv: async () => {
      const project = await this.idOf('prj');
      const question = { model: project, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 };
      const path = `/v1/projects/${project}/chat/completions`;
      const { headers } = await this.post(path, question, this.admin, { 'X-Conversation-Id': 'new' });
      return headers.get('x-conversation-id') as string;
    },
    job: async () => (await this.post('/v1/jobs', { kind: 'external', name: 'training' })).body.id,
    rul: async () => {
      const rule = { name: 'fails', rule_type: 'consecutive_failures', threshold: 1, job_kind: 'external' };
      return (await this.post('/v1/alerts/rules', rule)).body.id;
    },
    alr: async () => {
      await this.makers.rul?.();
      const job = await this.makers.job?.();
      await this.caller.call('PATCH', `/v1/jobs/${job}`, { token: this.admin, json: { status: 'failed' } });
      return (await this.caller.get('/v1/alerts', this.admin)).body.alerts[0].id;
    },
    whk: async () => {
      const { webhooks } = (await this.caller.get('/v1/alerts/webhooks', this.admin)).body;
      for (const { id } of webhooks.slice(5)) await this.caller.delete(`/v1/alerts/webhooks/${id}`, this.admin);
      return (await this.post('/v1/alerts/webhooks', { url: 'https://127.0.0.1/' })).body.id;
    },
    dep: async () => {
      await this.uploadModel();
      return (await this.post('/v1/deployments', { name: 'iris', model_path: MODEL_PATH })).body.id;
    },
  };
}

const kinds: Readonly<Record<string, string>> = {
  user: 'usr',
  invite: 'inv',
  session: 'ses',
  key: 'key',
  dataset: 'dst',
  model: 'mdl',
  conversation: 'cnv',
  job: 'job',
  rule: 'rul',
  alert: 'alr',
  webhook: 'whk',
  deployment: 'dep',
};
