import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ChatRuntime, CountCall, RuntimeCall } from '../../application/chat/ports.js';
import type { ModelFileResolver } from '../../application/deployments/ports.js';
import type { Clock, JsonSchemas, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import {
  AnswerOutOfFormat,
  RuntimeLoading,
  RuntimeStopped,
  RuntimeUnavailable,
  UnsupportedParameter,
  WrongTask,
} from '../../domain/chat/errors.js';
import { type OptionalField, requireSupported } from '../../domain/chat/request-field.js';
import type { RuntimeFigures, RuntimeStatus, RuntimeTask } from '../../domain/chat/runtime.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { WaitEstimate } from '../chat-runtimes/fair-queue.js';
import { RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import type { ChildLimits } from '../child-process/child-limits.js';
import { Supervisor, type SupervisorState } from '../child-process/supervisor.js';
import type { RestartDelayBounds } from '../system/scheduling.js';
import type { ChatCalls } from './chat-calls.js';
import { ChatProcess, type ChatProcessSettings, type OnnxSource } from './chat-process.js';

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
  'name',
  'toolCalls',
  'toolCallId',
  'refusal',
  'reasoning',
  'reasoningEffort',
]);

/** Only older drafts allow an array as `items`. */
const OLDER_DRAFT = 'http://json-schema.org/draft-07/schema#';

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

/** Runs the model of a project in a supervised child process. */
export class OnnxChatRuntime implements ChatRuntime {
  private source: OnnxSource | null = null;
  /** Undefined until the model has loaded. */
  private loaded: Pick<RuntimeStatus, 'task' | 'context'> | undefined;
  private readonly supervisor: Supervisor<ChatProcess>;
  private readonly estimate = new WaitEstimate();
  private readonly meter = new RuntimeMeter();

  constructor(
    private readonly id: string,
    private readonly settings: RuntimeSettings,
    private readonly files: ModelFileResolver,
    private readonly schemas: JsonSchemas,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
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
    const own = requireSupported(request, SUPPORTED);
    const completion = await this.callsFor('chat').complete(own, call);
    await this.requireFormat(own, completion, call);
    return completion;
  }

  async *stream(request: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    const own = requireSupported(request, SUPPORTED);
    let text = '';
    for await (const part of this.callsFor('chat').stream(own, call)) {
      if (own.responseFormat) text += part.text;
      if (part.end) await this.requireFormat(own, { text, ...part.end }, call);
      yield part;
    }
  }

  async embed(request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings> {
    request.verbatim?.requireUnderstood();
    if (request.dimensions !== undefined) throw new UnsupportedParameter('dimensions', FIXED_DIMENSIONS);
    return this.callsFor('embedding').embed(request, call);
  }

  async countTokens(request: ChatRequest, call: CountCall): Promise<number> {
    return this.callsFor('chat').count(requireSupported(request, SUPPORTED), call);
  }

  /**
   * Throws AnswerOutOfFormat if a complete answer is not valid by its schema. The grammar prevents this, unless it has
   * a fault. A stop text may cut an answer, so an answer with stop texts is not checked.
   */
  private async requireFormat(
    { responseFormat, sampling }: ChatRequest,
    completion: Completion,
    { caller }: RuntimeCall,
  ): Promise<void> {
    if (!responseFormat || sampling?.stop || completion.finishReason !== 'stop') return;
    const schema = responseFormat.json === 'schema' ? responseFormat.schema : { type: 'object' };
    if (await this.isValid(schema, completion.text, caller)) return;
    const digest = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
    this.log.error('chat runtime broke a response format', { runtime: this.id, schema_sha256: digest });
    throw new AnswerOutOfFormat(completion);
  }

  /** Returns true also if the validator cannot use the schema or takes too long: the grammar does without it. */
  private async isValid(schema: JsonObject, text: string, caller: string): Promise<boolean> {
    for (const one of [schema, { ...schema, $schema: OLDER_DRAFT }])
      if ((await this.schemas.problem(one, caller)) === null)
        return (await this.schemas.accepts(one, text, caller)) !== false;
    return true;
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
    const process = new ChatProcess(
      { folder: copy.path, dtype },
      this.settings,
      { estimate: this.estimate, meter: this.meter, clock: this.clock },
      {
        line: (stream, line) => this.log.info('chat runtime output', { runtime: this.id, stream, line }),
        invalidMessage: (call) => this.log.warn('chat runtime sent nonsense', { runtime: this.id, call }),
        ready: ({ task, atOnce, reuse, context }) => {
          this.loaded = { task, context };
          const fields = { runtime: this.id, at_once: atOnce, prefix_cache: reuse };
          if (task === 'chat') this.log.info('chat model loaded', fields);
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
