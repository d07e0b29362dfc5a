import { join } from 'node:path';
import type { ModelFileResolver } from '../../../src/application/deployments/ports.js';
import type { ChatRequest, CompletionEnd, CompletionPart, ToolCall, Usage } from '../../../src/domain/chat/chat.js';
import type { RuntimeStatus } from '../../../src/domain/chat/runtime.js';
import { CallTelemetry } from '../../../src/infrastructure/chat-runtimes/call-telemetry.js';
import { ChatRuntimesByEngine } from '../../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { ChildLimits } from '../../../src/infrastructure/child-process/child-limits.js';
import type { OnnxSource } from '../../../src/infrastructure/onnx-chat/chat-process.js';
import { OnnxChatEngine, type OnnxChatEngineSettings } from '../../../src/infrastructure/onnx-chat/onnx-chat-engine.js';
import { SystemClock, UuidIdGenerator } from '../../../src/infrastructure/system/adapters.js';
import { schemas } from '../json-schemas.js';
import { RecordingLog } from '../recording-log.js';
import { unlimited } from '../records.js';

const compiled = (path: string) => join(process.cwd(), 'dist', path);

// The tests run these programs as processes. They are compiled, like those of the service.
export const worker = compiled('src/infrastructure/onnx-chat/worker/main.js');
export const oddWorker = compiled('tests/support/onnx/odd-worker.js');
export const parentProgram = compiled('tests/support/onnx/parent-program.js');
export const callsProgram = compiled('tests/support/onnx/calls-program.js');
export const formsProgram = compiled('tests/support/onnx/forms-program.js');
export const listsProgram = compiled('tests/support/onnx/lists-program.js');
export const roundsProgram = compiled('tests/support/onnx/rounds-program.js');

/** Accepts any folder. The name of the folder tells an odd worker its behaviour, so the folder need not exist. */
const anyFolder = {
  materializeFolder: async (path: string) => ({ path, release: () => undefined }),
} as unknown as ModelFileResolver;

type About = Partial<ChatRequest> & { id?: string; caller?: string; signal?: AbortSignal };

function callOf(text: string, about: About) {
  const { id = 'a', caller = 'usr_a', signal = new AbortController().signal, ...rest } = about;
  const request = { messages: [{ role: 'user' as const, content: text }], maxTokens: null, temperature: 0, ...rest };
  return [id, request, { caller, signal, memory: unlimited }] as const;
}

/** Runs chat runtimes in child processes, and shows these processes. */
export class ChildRuntimesRig {
  readonly log = new RecordingLog();
  readonly runtimes: ChatRuntimesByEngine;

  constructor(settings: Partial<OnnxChatEngineSettings> = {}) {
    const children = new ChildLimits();
    const usual = { worker, threads: 1, atOnce: 1, queue: 1, timeoutMs: 60_000, stopGraceMs: 2_000, children };
    const restartDelayMs = { first: 100, max: 400 };
    const all = { ...usual, restartDelayMs, ...settings };
    const engine = new OnnxChatEngine(all, anyFolder, schemas, new UuidIdGenerator(), new SystemClock(), this.log);
    this.runtimes = new ChatRuntimesByEngine([engine], new CallTelemetry());
  }

  /** Starts a runtime from a folder, and returns its state after loading. */
  async start(folder: string, id = 'a'): Promise<RuntimeStatus> {
    const source: OnnxSource = { kind: 'onnx', folder };
    this.runtimes.start(id, source);
    return this.settled(id);
  }

  /** Waits for the end of loading, which is always logged. */
  async settled(id = 'a'): Promise<RuntimeStatus> {
    while (this.runtimes.status(id).state === 'loading') await this.log.news();
    return this.runtimes.status(id);
  }

  /** Returns the answer and its usage in one object, without its times. */
  async ask(text: string, about: About = {}) {
    const { usage, timing: _, ...answer } = await this.runtimes.complete(...callOf(text, about));
    return { ...answer, ...(usage as Usage) };
  }

  stream(text: string, about: About = {}): AsyncIterable<CompletionPart> {
    return this.runtimes.stream(...callOf(text, about));
  }

  /** Returns the parts of a streamed answer, and the answer in the form of `ask`. */
  async askInParts(text: string, about: About = {}) {
    const parts: CompletionPart[] = [];
    for await (const part of this.stream(text, about)) parts.push(part);
    const { usage, timing: _, ...end } = (parts.at(-1) as CompletionPart).end as CompletionEnd;
    const logprobs = parts.flatMap((part) => part.logprobs ?? []);
    const toolCalls: ToolCall[] = [];
    for (const { index, arguments: text, ...part } of parts.flatMap((part) => part.toolCalls ?? [])) {
      if (part.id) toolCalls.push({ ...part, arguments: '' } as ToolCall);
      const call = toolCalls[index] as ToolCall;
      toolCalls[index] = { ...call, arguments: call.arguments + text };
    }
    const calls = toolCalls.length > 0 && { toolCalls };
    const answer = {
      text: parts.map((part) => part.text).join(''),
      ...(logprobs.length > 0 && { logprobs }),
      ...calls,
    };
    return { parts, answer: { ...answer, ...end, ...(usage as Usage) } };
  }

  /** Returns the id of the latest process of the runtime. */
  pid(id = 'a'): number {
    return Number(this.log.of('chat runtime started').findLast(({ fields }) => fields.runtime === id)?.fields.pid);
  }

  kill(id = 'a', signal: NodeJS.Signals = 'SIGKILL'): void {
    process.kill(this.pid(id), signal);
  }

  /** Returns the ids of the processes of all runtimes that exist now. */
  processes(): number[] {
    return this.log
      .of('chat runtime started')
      .map(({ fields }) => Number(fields.pid))
      .filter(exists);
  }
}

export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
