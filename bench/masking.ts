/** Measures the processor time of masking content of 256 KB, and how long the masking of other content blocks a call. */
import { setImmediate as turn } from 'node:timers/promises';
import { shippedProgram } from '../src/bootstrap/config/shipped.js';
import { MaskingFailed } from '../src/domain/record/errors.js';
import { type Mask, maskKinds, recordingLimits } from '../src/domain/record/recording.js';
import { ContentMasking } from '../src/infrastructure/masking/content-masking.js';
import { OwnPatterns } from '../src/infrastructure/masking/own-patterns.js';
import { Re2Masker } from '../src/infrastructure/masking/re2-masker.js';
import { figures, wanted } from './rounds.js';

const LENGTH = 262_144;
const RUNS = 7;
/** A service has masked other content before, so that Node.js has optimized the code. */
const WARM_UP = 40;
const CHAT =
  'Dear support team, my order 4711 of 2026-11-28 has not arrived. Version 1.2.3 of the app shows "waiting" since 14:30. ' +
  'I paid 12.50 EUR with the card that ends in 1111. Please write to ada@example.com or call +49 30 12345678. Thank you! ';

const filled = (part: string, length = LENGTH) => part.repeat(Math.ceil(length / part.length)).slice(0, length);
const list = (item: string) => `[${filled(`${item},`).slice(0, -item.length - 1)}${item}]`;

const ordinary: readonly [string, string][] = [
  ['ordinary, 2 KB', filled(CHAT, 2_048)],
  ['ordinary, 256 KB', filled(CHAT)],
];
const hostile: readonly [string, string][] = [
  ['email: a@', filled('a@')],
  ['email: x.y@', filled('x.y@')],
  ['phone: dates', filled('2026-11-28 ')],
  ['phone: 011 1', filled('011 1')],
  ['card: 4111 …', filled('4111 1111 1111 1111 ')],
  ['card: 0000-', filled('0000-')],
  ['iban: de 8 9', filled('de 8 9 ')],
  ['ip: ::1', filled('::1 ')],
  ['ip: a:1', filled('a:1')],
  ['secret: password is', filled('password is ')],
  ['secret: ://a:', filled('://a:')],
  ['secret: private keys', filled('-----BEGIN PRIVATE KEY-----')],
  ['escapes: \\u0040', filled('\\u0040')],
  ['escapes: １', filled('１')],
  ['JSON: numbers', list('1')],
  ['JSON: addresses', list('"a@b.co"')],
  ['JSON: passwords', list('{"password":"x"}')],
];
const patterns: readonly [string, string][] = [
  ['KD-\\d{6}', filled(CHAT)],
  ['\\bKD-\\d{6}\\b', filled(CHAT)],
  ['(?i)customer \\d+', filled(CHAT)],
  ['\\b', filled('a ')],
  ['\\ba+\\b', filled('a ')],
  ['(a+)+$', filled('a')],
  ['(.*)*x', filled('a')],
  ['(a|aa)+$', filled('a')],
  ['\\pL{450}\\pN{450}', filled('a')],
];

/** The clock of the processor is too coarse for one short content. */
const timesOf = (text: string): number => (text.length < 10_000 ? 500 : 1);

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function spent(work: () => void): number {
  const before = processorMs();
  work();
  return processorMs() - before;
}

const median = (times: readonly number[]) => times.toSorted((one, other) => one - other)[times.length >> 1] as number;

/** Prints the median and the highest processor time of a few runs, and returns them. */
function measured(name: string, text: string, masks: readonly Mask[]): { middle: number; most: number } {
  const masking = new ContentMasking();
  let result = '';
  const mask = (content = text) => {
    try {
      result = masking.mask(content, masks) === content ? 'stored, no finds' : 'stored, masked';
    } catch (error) {
      if (!(error instanceof MaskingFailed)) throw error;
      result = `refused: ${error.reason}`;
    }
  };
  for (let run = 0; run < WARM_UP; run++) mask(text.slice(0, LENGTH / 16));
  const repeats = timesOf(text);
  const repeated = () => {
    for (let run = 0; run < repeats; run++) mask();
  };
  const times = Array.from({ length: RUNS }, () => spent(repeated) / repeats);
  const [middle, most] = [median(times), Math.max(...times)];
  console.log(`${name.padEnd(24)} ${middle.toFixed(2).padStart(7)} ms ${most.toFixed(2).padStart(7)} ms   ${result}`);
  return { middle, most };
}

/** Returns the milliseconds of each turn of the event loop while long content is masked. */
async function turns(texts: readonly string[]): Promise<number[]> {
  const masker = new Re2Masker(shippedProgram('infrastructure/masking/masking-thread.js'));
  await masker.mask(filled(CHAT), maskKinds);
  let isDone = false;
  const all = Promise.allSettled(texts.map((text) => masker.mask(text, maskKinds))).then(() => {
    isDone = true;
  });
  const times: number[] = [];
  while (!isDone) {
    const before = performance.now();
    await turn();
    times.push(performance.now() - before);
  }
  await all;
  await masker.close();
  return times;
}

async function main(): Promise<void> {
  console.log('content                   median       most   result');
  const [chat] = ordinary.map(([name, text]) => measured(name, text, maskKinds));
  const kinds = hostile.map(([name, text]) => measured(name, text, maskKinds));
  console.log('\nown pattern               median       most   result');
  const own = patterns.map(([pattern, text]) => measured(pattern, text, [{ name: 'own', pattern }]));
  const large = `${'(?:\\pL\\pN)'.repeat(40)}{2,9}`.slice(0, recordingLimits.pattern);
  const compiled = [...patterns.map(([pattern]) => pattern), large].map((pattern) =>
    spent(() => new OwnPatterns().problem(pattern)),
  );
  console.log();
  wanted('2 KB of an ordinary chat, all kinds', chat?.middle ?? 0, 'at most', 1, ' ms');
  wanted('256 KB of hostile text, all kinds', Math.max(...kinds.map(({ middle }) => middle)), 'at most', 50, ' ms');
  wanted('256 KB with an own pattern', Math.max(...own.map(({ middle }) => middle)), 'at most', 10, ' ms');
  wanted('the check of an own pattern', Math.max(...compiled), 'at most', 10, ' ms');
  console.log(
    `turns of the event loop during ten masks of 256 KB: ${figures(await turns(Array(10).fill(filled('4111 '))))}`,
  );
}

void main();
