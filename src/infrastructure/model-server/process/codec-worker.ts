import { parentPort, workerData } from 'node:worker_threads';
import type { Finding } from '../../../domain/shared/errors.js';
import type { Answer } from './answer.js';
import type { AnswerForm, Asked } from './asked.js';
import { Codec, type Received } from './codec.js';
import { Refusal, type RefusalCode } from './refusal.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';
import type { Numbered } from './thread.js';

export type CodecQuestion =
  | { readonly type: 'decode'; readonly received: Received }
  | { readonly type: 'encode'; readonly form: AnswerForm; readonly outputs: Tensors };

export type CodecAnswer =
  | { readonly type: 'decoded'; readonly asked: Asked }
  | { readonly type: 'encoded'; readonly answer: Answer }
  | { readonly type: 'refused'; readonly code: RefusalCode; readonly message: string; readonly details?: Finding[] };

export interface CodecSettings {
  readonly signature: Signature;
  readonly name: string;
}

// The program of the thread for texts so large that reading them here would keep everybody waiting.
const { signature, name } = workerData as CodecSettings;
const codec = new Codec(signature, name);

parentPort?.on('message', ({ call, content }: Numbered<CodecQuestion>) => {
  const answer = answerTo(content);
  parentPort?.postMessage({ call, content: answer } satisfies Numbered<CodecAnswer>, given(answer));
});

function answerTo(question: CodecQuestion): CodecAnswer {
  try {
    if (question.type === 'decode') return { type: 'decoded', asked: codec.decode(question.received) };
    return { type: 'encoded', answer: codec.encode(question.form, question.outputs) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, details } = error;
    return { type: 'refused', code, message, ...(details && { details: [...details] }) };
  }
}

/** The memory that goes along. Small buffers share theirs, and are copied. */
function given(answer: CodecAnswer): ArrayBuffer[] {
  if (answer.type === 'decoded') return buffersOf(answer.asked.feeds);
  if (answer.type === 'refused') return [];
  const whole = answer.answer.parts.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength);
  return [...new Set(whole.map(({ buffer }) => buffer as ArrayBuffer))];
}
