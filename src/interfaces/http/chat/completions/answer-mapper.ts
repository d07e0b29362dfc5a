/** Maps completions of texts to the JSON of OpenAI's API. */
import type { Answer, AnswerEnd, Completion, CompletionPart, TokenLogprob } from '../../../../domain/chat/chat.js';
import { usageAnswer } from '../dialects.js';
import { verbatimJson } from '../openai/answer-mapper.js';

interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** The beginning of each answer, by its number. It is empty unless the request has `echo`. */
export type BeginningOf = (choice: number) => string;

export const textAnswer = (head: Head, completion: Completion, beginning: BeginningOf) => ({
  ...head,
  object: 'text_completion' as const,
  choices: [completion, ...(completion.others ?? [])].map((answer, index) => choiceOf(answer, index, beginning(index))),
  usage: usageAnswer(completion.usage),
});

const choiceOf = ({ text, logprobs, finishReason }: Answer, index: number, begun: string) => ({
  index,
  text: begun + text,
  logprobs: logprobs ? logprobsOf([...logprobs], begun.length) : null,
  finish_reason: reasonOf(finishReason),
});

const reasonOf = (reason: AnswerEnd['finishReason']) => (reason === 'length' ? 'length' : 'stop');

/** Offsets are UTF-16 units, as in the texts of JavaScript. */
function logprobsOf(tokens: readonly TokenLogprob[], from: number) {
  let at = from;
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => Object.fromEntries(top.map(({ token, logprob }) => [token, logprob]))),
    text_offset: tokens.map(({ token }) => {
      const offset = at;
      at += token.length;
      return offset;
    }),
  };
}

interface Events extends Head {
  readonly includesUsage: boolean;
  readonly beginning: BeginningOf;
}

/** Yields the events of all answers as texts. The last text has the usage and `[DONE]`. */
export async function* textEvents(
  parts: AsyncIterable<CompletionPart>,
  { includesUsage, beginning, id, created, model }: Events,
): AsyncGenerator<string> {
  const event = (choices: readonly object[], usage: object | null = null) =>
    `data: ${JSON.stringify({ id, object: 'text_completion', created, model, choices, ...(includesUsage && { usage }) })}\n\n`;
  /** The length of each answer until now. */
  const lengths = new Map<number, number>();
  let isVerbatim = false;
  let areSeveral = false;

  const said = ({ text, logprobs = [], choice = 0 }: CompletionPart) => {
    const begun = lengths.has(choice) ? '' : beginning(choice);
    const from = (lengths.get(choice) ?? 0) + begun.length;
    lengths.set(choice, from + text.length);
    if (begun + text === '' && logprobs.length === 0) return '';
    const tokens = logprobs.length > 0 ? logprobsOf(logprobs, from) : null;
    return event([{ index: choice, text: begun + text, logprobs: tokens, finish_reason: null }]);
  };
  const ended = (reason: AnswerEnd | undefined, index: number) =>
    reason ? event([{ index, text: '', logprobs: null, finish_reason: reasonOf(reason.finishReason) }]) : '';

  for await (const part of parts) {
    const { verbatim, end, choice = 0 } = part;
    isVerbatim ||= verbatim !== undefined;
    areSeveral ||= part.choice !== undefined;
    const isOnlyEnd = isVerbatim || (areSeveral && end !== undefined);
    const sent = verbatim === undefined ? '' : `data: ${verbatimJson(verbatim, model)}\n\n`;
    const own = isOnlyEnd ? sent : said(part) + ended(part.ended ?? end, choice);
    const usage = includesUsage && end && !isVerbatim ? event([], usageAnswer(end.usage)) : '';
    const all = `${own}${usage}${end ? 'data: [DONE]\n\n' : ''}`;
    if (all !== '') yield all;
  }
}
