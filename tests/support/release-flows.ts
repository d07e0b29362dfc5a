import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from './database.js';
import { answerTo, type Evaluated, ended, evaluatedProject, records } from './evaluations.js';
import { type Answer, type CallOptions, HttpCaller } from './http-caller.js';
import { as } from './monitoring.js';
import { FLOAT, onnxFile } from './onnx/onnx-graph.js';
import { type ScriptedEngine, speaking } from './scripted-engine.js';
import { until } from './until.js';
import { ask, completions, type Member, password, register } from './workspace.js';

/** Sends each call to the next of several instances. */
export class Alternating extends HttpCaller {
  private next = 0;

  constructor(private readonly instances: readonly HttpCaller[]) {
    super('');
  }

  override call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    const instance = this.instances[this.next++ % this.instances.length] as HttpCaller;
    return instance.call(method, path, options);
  }
}

export const flowSettings = (engine: ScriptedEngine) => ({
  SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
  SERVICE_MAX_ACCOUNTS: '50',
});

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

/** Puts the model of the flows into a data folder. */
export async function putModelFile(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, 'models'), { recursive: true });
  await writeFile(join(dataDir, 'models/doubling.onnx'), doubling);
}

/** The main flows of users, on what `prepare` has created. Each call throws if an answer is not as it should be. */
export class Flows {
  private constructor(
    private readonly admin: Member,
    private readonly evaluated: Evaluated,
    private readonly deployment: string,
  ) {}

  static async prepare(service: HttpCaller, databaseUrl: string, engine: ScriptedEngine): Promise<Flows> {
    engine.script = (asked, response) =>
      speaking(answerTo(asked.body.messages.at(-1).content, () => false))(asked, response);
    const admin = await register(service, 'Ada');
    await query(databaseUrl, 'UPDATE accounts SET email_verified_at = now()');
    const spec = { record: { content: 'full' } };
    const model = { runtime: 'openai', base_url: engine.url, model: 'm', prices: { input: 1, output: 2 } };
    const evaluated = await evaluatedProject(service, admin.token, { spec, model, rows: records(4) });
    const json = { name: 'doubling', model_path: 'doubling.onnx' };
    const { body: deployment } = await service.post('/v1/deployments', admin.token, json);
    const budget = { scope: 'project', scope_id: evaluated.project, unit: 'cost', limit: 1_000, period: 'day' };
    for (const [path, about] of [
      ['/v1/alerts/rules', { name: 'fails', rule_type: 'consecutive_failures', threshold: 1, job_kind: 'external' }],
      ['/v1/budgets', budget],
    ] as const)
      required(201, await service.post(path, admin.token, about));
    return new Flows(admin, evaluated, deployment.id);
  }

  /** Runs every flow. `at` may send each call to another instance. */
  async run(at: HttpCaller): Promise<void> {
    const token = await this.signIn(at);
    await this.chat(at);
    await this.responses(at);
    await this.failedJob(at, token);
    await this.evaluation(at, token);
    await this.prediction(at);
    await this.workspace(at, token);
    for (const path of ['/v1/usage', '/v1/status', '/v1/budgets', '/v1/audit'])
      required(200, await at.get(path, token));
  }

  private async signIn(at: HttpCaller): Promise<string> {
    const newcomer = await register(at, `New${randomUUID().slice(0, 8)}`);
    for (let turn = 0; turn < 2; turn++) required(200, await at.get('/v1/auth/me', newcomer.token));
    const login = await at.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    return required(200, login).token;
  }

  private async chat(at: HttpCaller): Promise<void> {
    const { project } = this.evaluated;
    const token = this.admin.apiKey;
    const word = `w${randomUUID().replaceAll('-', '')}`;
    const json = ask(project, `${word} question 2`);
    const headers = { 'X-Conversation-Id': 'new' };
    const kept = await at.call('POST', completions(project), { token, json, headers });
    required(200, kept);
    const conversation = `/v1/projects/${project}/conversations/${kept.headers.get('x-conversation-id')}`;
    for (let turn = 0; turn < 2; turn++) {
      const stream = await at.post('/openai/v1/chat/completions', token, { ...json, stream: true });
      if (!required(200, stream).includes('[DONE]')) throw new Error(`a stream without its end: ${stream.body}`);
    }
    required(200, await at.get(conversation, this.admin.token));
    const calls = async () => (await at.get(`/v1/projects/${project}/calls?q=${word}`, this.admin.token)).body.calls;
    await until('the calls are kept', async () => (await calls()).length === 3);
    const [{ id }] = await calls();
    required(201, await at.post(`/v1/calls/${id}/feedback`, this.admin.token, { score: 1 }));
  }

  private async responses(at: HttpCaller): Promise<void> {
    const token = this.admin.apiKey;
    const about = { model: this.evaluated.project, input: 'question 3', background: true, store: true };
    const { id } = required(200, await at.post('/openai/v1/responses', token, about));
    const status = async () => (await at.get(`/openai/v1/responses/${id}`, token)).body.status;
    await until('the response in the background is done', async () => (await status()) === 'completed');
  }

  private async failedJob(at: HttpCaller, token: string): Promise<void> {
    const operator = as(at, token);
    const { id } = await operator.ended('succeeded'); // ends the run of failures
    const failed = await operator.ended('failed');
    const fired = (await operator.alerts()).map(({ job_id }: { job_id: string }) => job_id);
    if (!fired.includes(failed.id) || fired.includes(id)) throw new Error(`the alerts are of ${fired}`);
  }

  private async evaluation(at: HttpCaller, token: string): Promise<void> {
    const { project, dataset } = this.evaluated;
    const about = { kind: 'evaluation', project_id: project, dataset_id: dataset };
    const job = await ended(at, token, required(202, await at.post('/v1/jobs', token, about)).id);
    if (job.status !== 'succeeded') throw new Error(`the evaluation: ${JSON.stringify(job)}`);
    const { results } = required(200, await at.get(`/v1/jobs/${job.id}/results`, token));
    if (results.length !== 4) throw new Error(`the evaluation has ${results.length} results`);
  }

  private async prediction(at: HttpCaller): Promise<void> {
    const path = `/v1/deployments/${this.deployment}/predict`;
    let answer: Answer | undefined;
    const predicted = async () => {
      answer = await at.post(path, this.admin.apiKey, { inputs: { x: [[1, 2]] } });
      return answer.status !== 503; // an instance may still load the model
    };
    await until('the deployment answers', predicted);
    required(200, answer as Answer);
  }

  private async workspace(at: HttpCaller, token: string): Promise<void> {
    const datasets = `/v1/projects/${this.evaluated.project}/datasets`;
    const made = required(201, await at.post(datasets, token, { name: 'Made', records: records(3) }));
    const json = { version: made.version, records: records(5) };
    const changed = required(200, await at.put(`${datasets}/${made.id}`, token, json));
    const read = required(200, await at.get(`${datasets}/${made.id}`, token));
    if (read.record_count !== 5 || read.version !== changed.version) throw new Error('the dataset has not changed');
    required(200, await at.delete(`${datasets}/${made.id}`, token));
  }
}

function required(status: number, answer: Answer): Answer['body'] {
  if (answer.status !== status)
    throw new Error(`${answer.status} in place of ${status}: ${JSON.stringify(answer.body).slice(0, 1_000)}`);
  return answer.body;
}
