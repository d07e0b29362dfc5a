import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { Chance, Clock } from '../../src/application/shared/ports.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { SystemClock } from '../../src/infrastructure/system/adapters.js';
import { TestApp } from '../http/support/test-app.js';
import type { Answer } from './http-caller.js';
import { type Script, ScriptedEngine, speaking } from './scripted-engine.js';
import { until } from './until.js';
import { ask, completions, createProject, type Member, register, registeredModel, untilState } from './workspace.js';

/** A project with one model on each engine. */
export interface FailoverProject {
  readonly id: string;
  readonly models: readonly [string, string];
}

/** The service with the real runtimes, and two engines. */
export class FailoverRig {
  private constructor(
    readonly app: TestApp,
    readonly admin: Member,
    readonly engines: readonly [ScriptedEngine, ScriptedEngine],
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<FailoverRig> {
    const engines = [await ScriptedEngine.start(), await ScriptedEngine.start()] as const;
    const app = await TestApp.start({
      adapt: (container) => {
        container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope();
        container.rebind(Clock).toConstantValue(new SystemClock());
      },
      env: { SERVICE_RUNTIME_ALLOWED_HOSTS: engines.map(({ host }) => host).join(','), ...env },
    });
    return new FailoverRig(app, await register(app, 'Ada'), engines);
  }

  async stop(): Promise<void> {
    await this.app.container.get(ChatRuntimes).close();
    await this.app.stop();
    await Promise.all(this.engines.map((engine) => engine.close()));
  }

  /** Lets both engines answer again, with their names, and forgets what they were asked. */
  reset(): void {
    this.draw(0);
    for (const [i, engine] of this.engines.entries()) {
      engine.script = speaking(i === 0 ? 'first' : 'second');
      engine.asked.length = 0;
    }
  }

  /** Sets the random number that draws the first target of a split. */
  draw(number: number): void {
    jest.spyOn(this.app.container.get(Chance), 'draw').mockReturnValue(number);
  }

  /** Creates a project with a model on each engine. `targetsOf` returns what is connected: by default a fallback. */
  async project(
    targetsOf = ([model_id, second]: readonly [string, string]): object => ({ model_id, fallbacks: [second] }),
    spec: (engine: number) => object = () => ({}),
  ): Promise<FailoverProject> {
    const { app, admin } = this;
    const id = await createProject(app, admin.token);
    const models: string[] = [];
    for (const [i, { url }] of this.engines.entries())
      models.push(
        await registeredModel(app, admin.token, id, { runtime: 'openai', base_url: url, model: 'm', ...spec(i) }),
      );
    const project = { id, models: models as [string, string] & string[] };
    await this.put(project, targetsOf(project.models));
    await app.post(`/v1/projects/${id}/runtime/start`, admin.token);
    await untilState(app, admin.token, id, 'ready');
    await until('all targets are ready', async () =>
      (await this.targets(project)).every(({ state }: { state: string }) => state === 'ready'),
    );
    return project;
  }

  put({ id }: FailoverProject, json: object): Promise<Answer> {
    return this.app.put(`/v1/projects/${id}/runtime`, this.admin.token, json);
  }

  async targets({ id }: FailoverProject): Promise<Answer['body']> {
    return (await this.app.get(`/v1/projects/${id}/runtime`, this.admin.token)).body.targets;
  }

  chat({ id }: FailoverProject, more: object = {}): Promise<Answer> {
    return this.app.post(completions(id), this.admin.apiKey, ask(id, 'Hi', more));
  }

  stream({ id }: FailoverProject): Promise<Answer> {
    return this.app.post('/openai/v1/chat/completions', this.admin.apiKey, ask(id, 'Hi', { stream: true }));
  }

  /** Returns the newest job of the project. */
  async job({ id }: FailoverProject): Promise<Answer['body']> {
    return (await this.app.get(`/v1/jobs?project_id=${id}&limit=1`, this.admin.token)).body.jobs[0];
  }

  /** Returns the samples of a metric for the project, by their further labels. */
  async metric({ id }: FailoverProject, name: string, masterKey: string): Promise<string[]> {
    const { body } = await this.app.get('/metrics', masterKey);
    return String(body)
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) && line.includes(`project="${id}"`));
  }
}

/** Sends the beginning of an answer without content, then breaks the connection. */
export const breakingEarly: Script = (_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Length': 10_000 });
  response.write('data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,');
  setTimeout(() => response.destroy(), 20);
};

/** Never answers. */
export const silent: Script = () => undefined;
