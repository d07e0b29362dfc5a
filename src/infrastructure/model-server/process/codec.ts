import { type Answer, encodeAnswer } from './answer.js';
import type { AnswerForm, Asked } from './asked.js';
import { readInfer } from './infer-request.js';
import { needsExact, parseJson } from './json-body.js';
import { readPredict } from './predict-request.js';
import type { Signature, Tensors } from './tensors.js';

/** A body as it came. */
export interface Received {
  readonly kind: 'predict' | 'infer';
  readonly body: Uint8Array;
  /** How much of it is JSON, where binary data comes after that. */
  readonly jsonLength: number | null;
}

/** Makes tensors of requests, and answers of tensors, for one model. */
export class Codec {
  private readonly exact: boolean;

  constructor(
    private readonly signature: Signature,
    private readonly name: string,
  ) {
    this.exact = needsExact(signature);
  }

  /** Throws a Refusal. */
  decode({ kind, body, jsonLength }: Received): Asked {
    const json = jsonLength === null ? body : body.subarray(0, jsonLength);
    const value = parseJson(json, this.exact);
    if (kind === 'predict') return readPredict(value, this.signature);
    return readInfer(value, jsonLength === null ? null : body.subarray(jsonLength), this.signature);
  }

  /** Throws a Refusal. */
  encode(form: AnswerForm, outputs: Tensors): Answer {
    return encodeAnswer(form, outputs, this.signature, this.name);
  }
}
