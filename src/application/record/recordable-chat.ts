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
import { callLimits } from '../../domain/record/kept-part.js';
import type { Recording } from '../../domain/record/recording.js';
import { TextCollector } from '../../domain/shared/text-collector.js';
import type { Recordable } from './call-recorder.js';

/** Limits the texts of all answers of a call together. It leaves room for the names beside the texts. */
const MOST_CHARACTERS = 0.9 * callLimits.sideMasked;
/** Limits the answers, and the calls of tools of each. */
const MOST_PARTS = 128;

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
  private room: number = MOST_CHARACTERS;
  private isCut = false;

  constructor(
    readonly recording: Recording,
    private readonly ownId: string | null,
    private readonly request: ChatRequest,
  ) {}

  answerId(): string | null {
    return this.engineId ?? this.ownId;
  }

  content(): CallContent {
    const answers = this.whole ?? this.growing.map(answerOf);
    return { request: requestJson(this.request), answer: answerJson(answers), isCut: this.isCut };
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
    if (!answer) return;
    this.added(answer.text, text);
    this.added(answer.reasoning, reasoning);
    for (const part of toolCalls) this.grow(answer, part);
    answer.finishReason = ended?.finishReason ?? answer.finishReason;
    if (end) for (const one of this.growing) one.finishReason ??= end.finishReason;
  }

  /** Returns the answer with this number. Null: there are too many. */
  private at(choice: number): Growing | null {
    if (choice >= MOST_PARTS) return null;
    for (let next = this.growing.length; next <= choice; next++)
      this.growing.push({
        text: this.collector(),
        reasoning: this.collector(),
        toolCalls: new Map(),
        finishReason: null,
      });
    return this.growing[choice] ?? null;
  }

  private grow({ toolCalls }: Growing, { index, id = '', name = '', arguments: part }: ToolCallPart): void {
    const call = toolCalls.get(index) ?? { id, name, text: this.collector() };
    if (toolCalls.size < MOST_PARTS) toolCalls.set(index, call);
    this.added(call.text, part);
  }

  private collector = () => new TextCollector(MOST_CHARACTERS);

  /** Adds as much of a piece as there is room for. */
  private added(text: TextCollector, piece: string): void {
    const fitting = piece.length <= this.room ? piece : piece.slice(0, this.room);
    this.room -= fitting.length;
    this.isCut ||= fitting !== piece;
    text.add(fitting);
  }
}

const answerOf = ({ text, reasoning, toolCalls, finishReason }: Growing): RecordedAnswer => ({
  ...{ text: text.joined, reasoning: reasoning.joined, finishReason },
  toolCalls: [...toolCalls.values()].map((call) => ({ id: call.id, name: call.name, arguments: call.text.joined })),
});

const idIn = (json: string | undefined): string | null => ANSWER_ID.exec(json?.slice(0, ID_WITHIN) ?? '')?.[1] ?? null;
