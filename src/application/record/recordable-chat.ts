import type {
  Answer,
  ChatRequest,
  Completion,
  CompletionPart,
  FinishReason,
  ToolCall,
  ToolCallPart,
} from '../../domain/chat/chat.js';
import { answerJson, type CallContent, type RecordedAnswer, requestJson } from '../../domain/record/call-content.js';
import type { Recording } from '../../domain/record/recording.js';
import { TextCollector } from '../../domain/shared/text-collector.js';
import type { Recordable } from './call-recorder.js';

/** One more character than is ever kept, so that a longer text is known to be too long. */
const MOST = 500_001;

interface Growing {
  readonly text: TextCollector;
  readonly reasoning: TextCollector;
  readonly toolCalls: Map<number, Omit<ToolCall, 'arguments'> & { readonly text: TextCollector }>;
  finishReason: FinishReason | null;
}

/** The id of an answer in the JSON of an engine. */
const ANSWER_ID = /"id"\s*:\s*"((?:chatcmpl|cmpl|msg|resp)[-_][\w.-]{1,100})"/;
const ID_WITHIN = 2_000;

/** A chat that its project may keep. Collects the answers of a stream, or takes them whole. Each text is bounded. */
export class RecordableChat implements Recordable {
  private readonly growing: Growing[] = [];
  private whole: readonly Answer[] | null = null;
  /** The id that an engine gave the answer, if the caller gets the engine's own JSON. */
  private engineId: string | null = null;

  constructor(
    readonly recording: Recording,
    private readonly ownId: string,
    private readonly request: ChatRequest,
  ) {}

  answerId(): string {
    return this.engineId ?? this.ownId;
  }

  content(): CallContent {
    const answers = this.whole ?? this.growing.map(answerOf);
    return { request: requestJson(this.request), answer: answerJson(answers) };
  }

  add(part: CompletionPart): void {
    this.engineId ??= idIn(part.verbatim);
    if (this.recording.content === 'full') this.collect(part);
  }

  addWhole(completion: Completion): void {
    this.whole = [completion, ...(completion.others ?? [])];
    this.engineId = idIn(completion.verbatim);
  }

  private collect({ text, reasoning = '', toolCalls = [], choice = 0, ended, end }: CompletionPart): void {
    const answer = this.at(choice);
    answer.text.add(text);
    answer.reasoning.add(reasoning);
    for (const part of toolCalls) addCall(answer, part);
    answer.finishReason = ended?.finishReason ?? answer.finishReason;
    if (end) for (const one of this.growing) one.finishReason ??= end.finishReason;
  }

  private at(choice: number): Growing {
    for (let next = this.growing.length; next <= choice; next++) {
      const [text, reasoning] = [new TextCollector(MOST), new TextCollector(MOST)];
      this.growing.push({ text, reasoning, toolCalls: new Map(), finishReason: null });
    }
    return this.growing[choice] as Growing;
  }
}

function addCall({ toolCalls }: Growing, { index, id = '', name = '', arguments: part }: ToolCallPart): void {
  const call = toolCalls.get(index) ?? { id, name, text: new TextCollector(MOST) };
  call.text.add(part);
  toolCalls.set(index, call);
}

const answerOf = ({ text, reasoning, toolCalls, finishReason }: Growing): RecordedAnswer => ({
  ...{ text: text.joined, reasoning: reasoning.joined, finishReason },
  toolCalls: [...toolCalls.values()].map((call) => ({ id: call.id, name: call.name, arguments: call.text.joined })),
});

const idIn = (json: string | undefined): string | null => ANSWER_ID.exec(json?.slice(0, ID_WITHIN) ?? '')?.[1] ?? null;
