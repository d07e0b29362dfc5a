import { injectable } from 'inversify';
import type { RuntimeCall } from '../../application/chat/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';

/** The runtime of a call: the kind of its engine, its project, and its model. */
export interface CalledRuntime {
  readonly kind: string;
  readonly project: string;
  readonly model: string;
}

/**
 * Runs each call to a runtime. This class records nothing. `GenAiTelemetry` makes a span of each call. A subclass
 * changes neither the answers nor the errors.
 */
@injectable()
export class CallTelemetry {
  complete(
    _runtime: CalledRuntime,
    _request: ChatRequest,
    call: RuntimeCall,
    run: (call: RuntimeCall) => Promise<Completion>,
  ): Promise<Completion> {
    return run(call);
  }

  embed(
    _runtime: CalledRuntime,
    _request: EmbeddingRequest,
    call: RuntimeCall,
    run: (call: RuntimeCall) => Promise<Embeddings>,
  ): Promise<Embeddings> {
    return run(call);
  }

  stream(
    _runtime: CalledRuntime,
    _request: ChatRequest,
    call: RuntimeCall,
    run: (call: RuntimeCall) => AsyncIterable<CompletionPart>,
  ): AsyncIterable<CompletionPart> {
    return run(call);
  }
}
