import type { Codecs } from './codecs.js';
import type { Exchange } from './exchange.js';
import { invalidRequest } from './findings.js';
import type { InferenceQueue } from './inference-queue.js';
import { Refusal } from './refusal.js';
import type { RequestBodies } from './request-bodies.js';

const LENGTH_HEADER = 'Inference-Header-Content-Length';
const JSON_TYPE = /^application\/([\w.+-]+\+)?json *(; *charset="?utf-?8"? *)?$/i;
const BINARY_TYPE = /^application\/octet-stream *$/i;

/** The routes that run the model. */
export class InferenceRoutes {
  constructor(
    private readonly bodies: RequestBodies,
    private readonly codecs: Codecs,
    private readonly queue: InferenceQueue,
  ) {}

  /** Throws a Refusal. */
  async predict(exchange: Exchange): Promise<void> {
    requireType(exchange, JSON_TYPE.test(exchange.header('content-type') ?? ''));
    await this.run(exchange, 'predict', null);
  }

  /** Throws a Refusal. */
  async infer(exchange: Exchange): Promise<void> {
    const given = exchange.header(LENGTH_HEADER.toLowerCase());
    const type = exchange.header('content-type') ?? '';
    requireType(exchange, JSON_TYPE.test(type) || (given !== undefined && BINARY_TYPE.test(type)));
    await this.run(exchange, 'infer', given === undefined ? null : lengthOf(given));
  }

  private async run(exchange: Exchange, kind: 'predict' | 'infer', jsonLength: number | null): Promise<void> {
    const { request, response } = exchange;
    const body = await this.bodies.read(request, response, jsonLength ?? 0);
    if (jsonLength !== null && jsonLength > body.length)
      throw wrongLength(`must be at most the length of the body, ${body.length}`);
    const whenLeft = (forget: () => void) => void (response.destroyed ? forget() : response.once('close', forget));
    const { feeds, form } = await this.codecs.decode({ kind, body, jsonLength }, whenLeft);
    const outputs = await this.queue.run(feeds, whenLeft);
    const answer = await this.codecs.encode(form, outputs, whenLeft);
    const isBinary = answer.jsonLength !== null;
    const type = isBinary ? 'application/octet-stream' : 'application/json; charset=utf-8';
    exchange.send(200, type, answer.parts, isBinary ? { [LENGTH_HEADER]: answer.jsonLength } : {});
  }
}

function requireType(exchange: Exchange, fits: boolean): void {
  const coding = exchange.header('content-encoding') ?? 'identity';
  if (fits && coding.toLowerCase() === 'identity') return;
  throw new Refusal('unsupported_media_type', 'Send the body as application/json in UTF-8, not compressed.', {
    Accept: 'application/json',
  });
}

function lengthOf(header: string): number {
  const length = Number(header);
  if (/^\d+$/.test(header) && Number.isSafeInteger(length)) return length;
  throw wrongLength('must be a whole number of bytes');
}

const wrongLength = (message: string): Refusal => invalidRequest([{ path: LENGTH_HEADER, message }]);
