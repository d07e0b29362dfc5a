import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelAnswer, ModelRequest, ServerState } from '../../../src/application/deployments/ports.js';
import type { LocalModel } from '../../../src/domain/deployments/deployment.js';
import { ChildLimits } from '../../../src/infrastructure/child-process/child-limits.js';
import { LocalModelFileResolver } from '../../../src/infrastructure/files/local-model-files.js';
import {
  LocalModelServer,
  type LocalModelServerSettings,
} from '../../../src/infrastructure/model-server/local-model-server.js';
import { exists } from '../onnx/child-runtimes-rig.js';
import { RecordingLog } from '../recording-log.js';
import { unlimited } from '../records.js';

const compiled = (path: string) => join(process.cwd(), 'dist', path);

/** A program that the tests run as a process. It is compiled, like those of the service. */
export const fakeServing = compiled('tests/support/model-server/fake-model-server.js');

export const fakeSettings: Omit<LocalModelServerSettings, 'children'> = {
  program: fakeServing,
  threads: 1,
  bodyLimit: 1_000_000,
  startTimeoutMs: 20_000,
  inferenceTimeoutMs: 20_000,
  probeTimeoutMs: 20_000,
  stopGraceMs: 300,
  restartDelayMs: { first: 20, max: 100 },
};

/** Runs model servers in child processes, and shows these processes. */
export class LocalModelServerRig {
  readonly log = new RecordingLog();
  readonly servers: LocalModelServer;

  constructor(
    private readonly folder: string,
    settings: Partial<LocalModelServerSettings> = {},
  ) {
    mkdirSync(folder, { recursive: true });
    this.servers = new LocalModelServer(
      { children: new ChildLimits(), ...fakeSettings, ...settings },
      new LocalModelFileResolver([folder]),
      this.log,
    );
  }

  /** Writes a model file. Its word names the behaviour of the process. */
  model(word: string, name = word): LocalModel {
    this.write(word, name);
    return { kind: 'local', name, modelPath: `${name}.onnx`, maxBatch: null, maxDelayMs: null };
  }

  write(word: string, name: string): void {
    writeFileSync(join(this.folder, `${name}.onnx`), word);
  }

  remove(name: string): void {
    rmSync(join(this.folder, `${name}.onnx`));
  }

  start(model: LocalModel, id = 'a'): Promise<string> {
    return this.servers.start(id, model, new AbortController().signal);
  }

  async until(status: ServerState['status'], id = 'a'): Promise<ServerState> {
    for (;;) {
      const state = await this.servers.probe(id);
      if (state.status === status) return state;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  pids(id?: string): number[] {
    const started = this.log.of('deployment process started').filter(({ fields }) => !id || fields.deployment === id);
    return started.map(({ fields }) => Number(fields.pid));
  }

  kill(id = 'a', signal: NodeJS.Signals = 'SIGKILL'): void {
    process.kill(this.pids(id).at(-1) as number, signal);
  }

  /** Returns the ids of the processes that exist now. */
  processes(): number[] {
    return this.pids().filter(exists);
  }
}

/** Returns a JSON body of one piece. */
export const bodyOf = (value: unknown) => {
  const bytes = Buffer.from(JSON.stringify(value));
  const chunks = (async function* () {
    yield bytes;
  })();
  return { length: bytes.length, chunks };
};

/** Returns a request for a prediction. */
export const prediction = (body: ModelRequest['body']): ModelRequest => ({
  operation: 'predict',
  version: null,
  jsonLength: null,
  requestId: 'req_1',
  memory: unlimited,
  body,
});

export async function textOf(chunks: ModelAnswer['body']): Promise<string> {
  if (ArrayBuffer.isView(chunks)) return Buffer.from(chunks).toString();
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}
