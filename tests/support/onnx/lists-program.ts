import type { CompiledGrammar } from '@mlc-ai/web-xgrammar';
import fc from 'fast-check';
import type { Json } from '../../../src/domain/workspace/json.js';
import { grammarOf } from '../../../src/infrastructure/onnx-chat/worker/grammar/json-grammar.js';
import { loadXGrammar } from '../../../src/infrastructure/onnx-chat/worker/grammar/xgrammar.js';
import { SeededChance } from './seeded-chance.js';

/**
 * Makes the grammars of many random sets of values, and draws texts from each. Prints the number of sets, and each text
 * that the grammar should not allow, or should allow, with its schema.
 *
 *   node lists-program.js <sets>
 */
const count = Number(process.argv[2]);
const SEED = 30;
const DRAWN = 3;
const LONGEST = 2_000;
/** The token that ends a text. Each other token is a byte. */
const END = 256;

const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = loadXGrammar();

const parts = [
  ['x', 'ab', 'b', 'ba'],
  ['0', '1', '.', '10', '11'],
  // Several of these characters begin or end with the same bytes.
  [...'\u00e9\u00e8\u65e5\u65e6\u65f5\u1000\u1040\u{1f600}\u{1f640}'],
  ['"', '\\', '\n', 'n', '\\"', 'a'],
];
const texts = fc
  .constantFrom(...parts)
  .chain((some) => fc.array(fc.array(fc.constantFrom(...some), { maxLength: 6 }), { minLength: 1, maxLength: 60 }))
  .map((all): Json[] => all.map((some) => some.join('')));
const numbers = fc
  .tuple(fc.constantFrom(1.1, 11, 0.1, 1e20, 1e-7), fc.integer({ min: 1, max: 140 }), fc.boolean())
  .map(([by, size, asText]): Json[] => Array.from({ length: size }, (_, i) => (asText ? String(i * by) : i * by)));

const alone = (value: Json): Json => ({ const: value });
const forms: readonly ((values: Json[]) => Json)[] = [
  (values) => ({ enum: values }),
  (values) => ({ anyOf: values.map(alone) }),
  (values) => ({ anyOf: [{ enum: values }, ...values.map((value) => ({ anyOf: [alone(value), { type: 'null' }] }))] }),
];
const sets = fc.sample(fc.tuple(fc.oneof(texts, texts, numbers), fc.nat(forms.length - 1), fc.nat()), {
  numRuns: count,
  seed: SEED,
});

/** Draws tokens until the end. */
async function drawn(grammar: CompiledGrammar, chance: SeededChance): Promise<string> {
  const matcher = await GrammarMatcher.createGrammarMatcher(grammar);
  const bytes: number[] = [];
  for (let token = 0; token !== END && bytes.length < LONGEST; ) {
    const mask = await matcher.getNextTokenBitmask();
    const allowed = Array.from({ length: END + 1 }, (_, i) => i).filter((i) => ((mask[i >> 5] ?? 0) >>> (i & 31)) & 1);
    token = allowed[Math.floor(chance.next() * allowed.length)] ?? END;
    matcher.acceptToken(token);
    if (token !== END) bytes.push(token);
  }
  matcher.dispose();
  return Buffer.from(bytes).toString();
}

async function accepts(grammar: CompiledGrammar, text: string): Promise<boolean> {
  const matcher = await GrammarMatcher.createGrammarMatcher(grammar);
  const all = [...Buffer.from(text), END].every((token) => matcher.acceptToken(token));
  matcher.dispose();
  return all;
}

async function main(): Promise<void> {
  const pieces = Array.from({ length: END }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`);
  const info = await TokenizerInfo.createTokenizerInfo([...pieces, ''], 'byte_fallback', false, END + 1, [END]);
  const compiler = await GrammarCompiler.createGrammarCompiler(info);
  const wrong: unknown[] = [];
  for (const [values, form, seed] of sets) {
    const schema = forms[form]?.(values) as Json;
    const grammar = await compiler.compileGrammar(grammarOf(schema, ''));
    const allowed = new Set([...values, ...(form === 2 ? [null] : [])].map((value) => JSON.stringify(value)));
    const some = [...allowed][seed % allowed.size] as string;
    if (!(await accepts(grammar, some))) wrong.push({ schema, refused: some });
    const chance = new SeededChance(seed);
    for (let i = 0; i < DRAWN; i++) {
      const text = await drawn(grammar, chance);
      if (!allowed.has(text)) wrong.push({ schema, allowed: text });
    }
    grammar.dispose();
  }
  console.log(JSON.stringify({ sets: sets.length, wrong }));
}

void main();
