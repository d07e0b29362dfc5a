import { basename } from 'node:path';
import type { Order } from '../../../src/infrastructure/onnx-chat/protocol.js';

/** Misbehaves in place of the worker. The name of the model's folder selects the behaviour. */
type Behaviour = (order: Order) => void;

const say = (message: unknown) => process.send?.(message as object);

/** Acts like the worker, except for the answer. */
const answering =
  (answer: (call: number) => void): Behaviour =>
  (order) => {
    if (order.type === 'load') say({ type: 'ready', task: 'chat', maxBatch: 1, context: 512 });
    if (order.type === 'tokenize') say({ type: 'tokenized', call: order.call, promptTokens: 3, room: 9 });
    if (order.type === 'cancel') say({ type: 'cancelled', call: order.call });
    if (order.type === 'generate') answer(order.call);
  };

const completion = {
  type: 'completed',
  text: 'Hi',
  finishReason: 'stop',
  promptTokens: 3,
  cachedTokens: 0,
  completionTokens: 1,
  firstTokenMs: 1,
  betweenTokensMs: [],
  tookMs: 2,
};

const behaviours: Readonly<Record<string, Behaviour>> = {
  silent: () => undefined,
  babbling: answering((call) => say({ ...completion, call, text: 42 })),
  /** Answers in parts although the call wants none. */
  chatty: answering((call) => {
    say({ type: 'parts', parts: [{ call, text: 'H' }] });
    say({ ...completion, call, text: 'i' });
  }),
  flooding: answering((call) => {
    for (let i = 0; i < 4; i++) say({ type: 'parts', parts: [{ call, text: 'x'.repeat(400_000) }] });
  }),
  nameless: answering((call) => {
    for (const junk of [null, 7, 'ready', {}, { call: 'x' }, []]) say(junk);
    say({ ...completion, call });
  }),
  hasty: (order) => {
    if (order.type === 'tokenize') say({ ...completion, call: order.call });
    else answering(() => undefined)(order);
  },
  deaf: (order) => {
    if (order.type === 'load' || order.type === 'tokenize') answering(() => undefined)(order);
  },
  /** Never answers its first call, and confirms no cancellation. */
  forgetful: (order) => {
    if (order.type !== 'cancel') answering((call) => call > 1 && say({ ...completion, call }))(order);
  },
  mute: (order) => {
    if (order.type === 'load') say({ type: 'ready', task: 'chat', maxBatch: 1, context: 512 });
  },
  wordy: () => {
    process.stdout.write('first line\nsecond line\n');
    process.stderr.write(`${'x'.repeat(20_000)}\nlast words in ${__filename}`, () => process.exit(3));
  },
};

let behaviour: Behaviour = behaviours.silent as Behaviour;
process.on('message', (order: Order) => {
  if (order.type === 'load') behaviour = behaviours[basename(order.folder)] ?? behaviour;
  behaviour(order);
});
