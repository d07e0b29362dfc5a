import { isDeepStrictEqual } from 'node:util';
import type { ChatRuntime, CountCall, RuntimeCall } from '../../application/chat/ports.js';
import type { ModelFileResolver } from '../../application/deployments/ports.js';
import type { Clock, IdGenerator, JsonSchemas, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import {
  RuntimeLoading,
  RuntimeStopped,
  RuntimeUnavailable,
  UnsupportedParameter,
  WrongTask,
} from '../../domain/chat/errors.js';
import { type OptionalField, requireSupported } from '../../domain/chat/request-field.js';
import type { RuntimeFigures, RuntimeStatus, RuntimeTask } from '../../domain/chat/runtime.js';
import { requireUsableTools } from '../../domain/chat/tools.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { WaitEstimate } from '../chat-runtimes/fair-queue.js';
import { RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import type { ChildLimits } from '../child-process/child-limits.js';
import { Supervisor, type SupervisorState } from '../child-process/supervisor.js';
import type { RestartDelayBounds } from '../system/scheduling.js';
import type { ChatCalls } from './chat-calls.js';
import { ChatProcess, type ChatProcessSettings, type OnnxSource } from './chat-process.js';
import { FormCheck } from './form-check.js';
import { completeAll, streamAll } from './several-answers.js';

/** The chat template gets the fields of messages. */
const SUPPORTED: ReadonlySet<OptionalField> = new Set([
  'topP',
  'topK',
  'minP',
  'repetitionPenalty',
  'templateFields',
  'seed',
  'stop',
  'presencePenalty',
  'frequencyPenalty',
  'logitBias',
  'topLogprobs',
  'responseFormat',
  'tools',
  'toolChoice',
  'parallelToolCalls',
  'name',
  'toolCalls',
  'toolCallId',
  'refusal',
  'reasoning',
  'reasoningEffort',
  'texts',
  'choices',
]);

const NO_TOOLS =
  'is not supported by this model: its chat template does not know tools, or writes calls in another form';

const FIXED_DIMENSIONS = 'is not supported by this model: its vectors have one length';

/** A process that was ready for this time restarts with the shortest delay again. */
const STABLE_MS = 10 * 60_000;

export interface RuntimeSettings extends ChatProcessSettings {
  readonly restartDelayMs: RestartDelayBounds;
  readonly children: ChildLimits;
}

const states: Readonly<Record<SupervisorState, RuntimeStatus['state']>> = {
  stopped: 'stopped',
  starting: 'loading',
  running: 'ready',
  waiting: 'unavailable',
  no_room: 'unavailable',
  failed: 'unavailable',
};

/** The most characters of the further variables of a chat template, as JSON, and of an effort. */
const FIELDS_LENGTH = 100_000;
/** The most characters of the descriptions of all tools. Several processes copy them before they are cut. */
const DESCRIPTIONS_LENGTH = 1_000_000;

/** Throws InvalidRequest. */
function requireShortFields({ templateFields, reasoningEffort = '', tools = [] }: ChatRequest): void {
  const refuse = (path: string, what: string, most = FIELDS_LENGTH) => {
    throw new InvalidRequest([{ path, message: `must have at most ${most} characters${what}` }]);
  };
  if (tools.reduce((sum, { description = '' }) => sum + description.length, 0) > DESCRIPTIONS_LENGTH)
    refuse('tools', ' in all descriptions together', DESCRIPTIONS_LENGTH);
  if (templateFields && JSON.stringify(templateFields).length > FIELDS_LENGTH)
    refuse('chat_template_kwargs', ' as JSON');
  if (reasoningEffort.length > FIELDS_LENGTH) refuse('reasoning_effort', '');
}

interface Tools {
  readonly schemas: JsonSchemas;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  readonly log: Logger;
}

const isSingle = ({ texts = [], choices = 1 }: ChatRequest): boolean => texts.length <= 1 && choices === 1;

/** Runs the model of a project in a supervised child process. */
export class OnnxChatRuntime implements ChatRuntime {
  private source: OnnxSource | null = null;
  /** Undefined until the model has loaded. */
  private loaded: Pick<RuntimeStatus, 'task' | 'context'> | undefined;
  private knowsTools = false;
  private readonly supervisor: Supervisor<ChatProcess>;
  private readonly estimate = new WaitEstimate();
  private readonly meter = new RuntimeMeter();
  private readonly check: FormCheck;

  constructor(
    private readonly id: string,
    private readonly settings: RuntimeSettings,
    private readonly files: ModelFileResolver,
    private readonly tools: Tools,
  ) {
    const { schemas, log } = tools;
    this.check = new FormCheck(schemas, log, id);
    this.supervisor = new Supervisor(
      (signal) => this.launch(signal),
      { restartDelayMs: settings.restartDelayMs, stableMs: STABLE_MS, children: settings.children },
      { log, subject: 'chat runtime', fields: { runtime: id } },
      ({ calls }, reason) => calls.fail(new RuntimeUnavailable(reason)),
    );
  }

  get status(): RuntimeStatus {
    const state = states[this.supervisor.state];
    const reason = state === 'unavailable' ? this.supervisor.reason : null;
    return { state, reason, ...this.loaded };
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.supervisor.current?.calls.queue ?? null);
  }

  start(source: OnnxSource): void {
    if (isDeepStrictEqual(this.source, source) && this.status.state !== 'unavailable') return;
    this.source = source;
    this.loaded = undefined;
    const { current } = this.supervisor;
    void this.supervisor.resume();
    current?.calls.fail(new RuntimeLoading());
  }

  async stop(): Promise<void> {
    this.source = null;
    this.loaded = undefined;
    const { current } = this.supervisor;
    const stopped = this.supervisor.stop();
    current?.calls.fail(new RuntimeStopped());
    await stopped;
  }

  async complete(request: ChatRequest, call: RuntimeCall): Promise<Completion> {
    const all = requireSupported(request, SUPPORTED);
    const one = (single: ChatRequest, its: RuntimeCall) => this.completeOne(single, its);
    return isSingle(all) ? this.completeOne(all, call) : completeAll(all, call, one);
  }

  private async completeOne(own: ChatRequest, call: RuntimeCall): Promise<Completion> {
    const completion = await this.chatCallsFor(own).complete(own, call);
    await this.check.of(own, call.caller).requireKept(completion);
    return completion;
  }

  async *stream(request: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    const all = requireSupported(request, SUPPORTED);
    const one = (single: ChatRequest, its: RuntimeCall) => this.streamOne(single, its);
    yield* isSingle(all) ? this.streamOne(all, call) : streamAll(all, call, one);
  }

  private async *streamOne(own: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    const check = this.check.of(own, call.caller);
    for await (const part of this.chatCallsFor(own).stream(own, call)) {
      await check.add(part);
      yield part;
    }
  }

  async embed(request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings> {
    return this.textCallsFor(request).embed(request, call);
  }

  async boundTextTokens(request: EmbeddingRequest, call: CountCall): Promise<number> {
    return this.textCallsFor(request).count({ type: 'count_texts', texts: request.texts }, call);
  }

  async countTokens(request: ChatRequest, call: CountCall): Promise<number> {
    const own = requireSupported(request, SUPPORTED);
    return this.chatCallsFor(own).count({ type: 'count', request: own }, call);
  }

  boundTokens(request: ChatRequest, call: CountCall): Promise<number> {
    return this.countTokens(request, call);
  }

  private chatCallsFor(request: ChatRequest): ChatCalls {
    requireUsableTools(request);
    requireShortFields(request);
    const calls = this.callsFor('chat');
    const { tools = [], toolChoice } = request;
    if (tools.length > 0 && toolChoice !== 'none' && !this.knowsTools)
      throw new UnsupportedParameter('tools', NO_TOOLS);
    return calls;
  }

  private textCallsFor({ verbatim, dimensions }: EmbeddingRequest): ChatCalls {
    verbatim?.requireUnderstood();
    if (dimensions !== undefined) throw new UnsupportedParameter('dimensions', FIXED_DIMENSIONS);
    return this.callsFor('embedding');
  }

  /** Throws if the runtime is not ready. Throws WrongTask if its model is for the other task. */
  private callsFor(task: RuntimeTask): ChatCalls {
    const { state, reason } = this.status;
    if (state === 'stopped') throw new RuntimeStopped();
    if (state === 'loading') throw new RuntimeLoading();
    if (!this.supervisor.current) throw new RuntimeUnavailable(reason ?? 'its process is gone');
    const own = this.loaded?.task ?? task;
    if (own !== task) throw new WrongTask(own);
    return this.supervisor.current.calls;
  }

  private async launch(signal: AbortSignal): Promise<ChatProcess> {
    const { folder, dtype } = this.source as OnnxSource;
    const copy = await this.files.materializeFolder(folder, signal);
    if (!copy) throw new Error(`there is no folder "${folder}" below the models folders any more`);
    const { ids, clock, log } = this.tools;
    const process = new ChatProcess(
      { folder: copy.path, dtype },
      this.settings,
      { estimate: this.estimate, meter: this.meter, clock, ids },
      {
        line: (stream, line) => log.info('chat runtime output', { runtime: this.id, stream, line }),
        invalidMessage: (call) => log.warn('chat runtime sent nonsense', { runtime: this.id, call }),
        ready: ({ task, atOnce, reuse, tools, context }) => {
          this.loaded = { task, context };
          this.knowsTools = tools;
          const fields = { runtime: this.id, at_once: atOnce, prefix_cache: reuse };
          if (task === 'chat') log.info('chat model loaded', fields);
        },
        broken: (reason) => this.fail(reason),
      },
    );
    void process.gone.then(() => copy.release());
    return process;
  }

  /** Makes the runtime unavailable until somebody starts it again. */
  private fail(reason: string): void {
    const { current } = this.supervisor;
    this.supervisor.fail(reason);
    current?.calls.fail(new RuntimeUnavailable(reason));
  }
}
