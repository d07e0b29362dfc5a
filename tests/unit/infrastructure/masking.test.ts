import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedProgram } from '../../../src/bootstrap/config/shipped.js';
import { MaskingFailed } from '../../../src/domain/record/errors.js';
import { maskKinds } from '../../../src/domain/record/recording.js';
import { ContentMasking } from '../../../src/infrastructure/masking/content-masking.js';
import { finders } from '../../../src/infrastructure/masking/kinds.js';
import { MaskingLane } from '../../../src/infrastructure/masking/masking-lane.js';
import { OwnPatterns } from '../../../src/infrastructure/masking/own-patterns.js';
import { Re2Masker } from '../../../src/infrastructure/masking/re2-masker.js';
import { ordinaryTexts } from '../../contracts/record/ordinary-texts.js';

const LENGTH = 262_144;
const filled = (part: string, length = LENGTH) => part.repeat(Math.ceil(length / part.length)).slice(0, length);

/** Returns the least milliseconds of the processor of a few runs. */
function leastMs(run: () => void, runs = 3): number {
  const spent = () => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  return Math.min(...Array.from({ length: runs }, spent));
}

describe('the masking of content, on 256 KB', () => {
  const masker = new ContentMasking();
  const hostile = filled('a');

  it.each(['(?:(?:a|aa)+)+$', '\\pL{450}\\pN{450}', '(a*)*b|a$', 'X!|a{400}$'])(
    'ends a hostile pattern after about 10 ms, without masked text: %s',
    (pattern) => {
      const mask = () => masker.mask(hostile, [{ name: 'own', pattern }]);
      expect(new OwnPatterns().problem(pattern)).toBeNull();
      expect(mask).toThrow(MaskingFailed);
      expect(leastMs(() => expect(mask).toThrow(MaskingFailed), 5)).toBeLessThan(20); // another thread may count too
    },
  );

  it('applies the limit to all patterns and texts together', () => {
    const masks = Array.from({ length: 20 }, (_, n) => ({ name: `own${n}`, pattern: `\\pL{450}\\pN{43${n % 10}}` }));
    const texts = Array.from({ length: 100 }, () => filled('a', 2_600));
    expect(() => masker.mask(texts, masks)).toThrow(MaskingFailed);
    expect(leastMs(() => expect(() => masker.mask(texts, masks)).toThrow(MaskingFailed))).toBeLessThan(30);
  });

  it('does not repeat the content in an error', () => {
    const broken = { name: 'own', pattern: '(' };
    expect(() => masker.mask('planted', [broken])).toThrow(/^(?!.*planted).*masked/);
  });

  it('fails closed when a finder throws', () => {
    const finder = jest.spyOn(finders, 'email').mockImplementation(() => {
      throw new RangeError('ada@example.com');
    });
    expect(() => masker.mask('ada@example.com', ['email'])).toThrow(new MaskingFailed('the masker has failed'));
    finder.mockRestore();
  });

  it('masks ordinary texts with all kinds quickly', () => {
    const text = filled(ordinaryTexts.join('\n'));
    expect(leastMs(() => masker.mask(text, maskKinds), 5)).toBeLessThan(150); // some 20 ms on an idle machine
  });

  it.each([
    [
      'keys that become equal',
      (n: number) => Object.fromEntries(Array.from({ length: n }, (_, k) => [`${k}@a.de`, 1])),
    ],
    ['values beside names of secrets', (n: number) => `${'{"name":"token","value":'.repeat(n)}1${'}'.repeat(n)}`],
  ])('masks many %s in linear time', (_, many) => {
    const [few, more] = [many(500), many(12_000)];
    const [little, much] = [few, more].map((value) => leastMs(() => masker.mask(value, maskKinds))) as [number, number];
    expect(much).toBeLessThan(Math.max(60 * little, 500));
  });

  it.each([
    ...[
      'a',
      'a@',
      '1',
      '0 ',
      ':',
      'a:1',
      '1.',
      '\\',
      '\\u0040',
      'eyJaaaaaaaa-',
      'sk-',
      'password=',
      '://a:',
      '+1',
      'de 8 9 ',
    ],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '%40',
      '[',
      '{"a":',
      '-',
      ' ',
      '"@',
      '4111 ',
      '0000-',
      '(0',
      '１',
      'bearer ',
      'я',
    ],
    ...[`${'a'.repeat(64)}@`, `a@${'a.'.repeat(100)}`, '-----BEGIN ', 'password is ', 'tel ', 'DE89', '11111111-'],
    ...[
      `${'-'.repeat(70)}\n`,
      `<${'pass'.repeat(13)}`,
      'cookie: a=12345678',
      '-u a:',
      '--a-',
      '(11) 12 ',
      '011 1',
      '4111/',
    ],
  ])('masks texts in linear time: %j', (part) => {
    const quarter = leastMs(() => masker.mask(filled(part, LENGTH / 4), maskKinds), 2);
    const whole = leastMs(() => masker.mask(filled(part), maskKinds), 2);
    expect(whole).toBeLessThan(Math.max(10 * quarter, 250));
  });
});

describe('the thread of the masker', () => {
  const folder = mkdtempSync(join(tmpdir(), 'masking-'));
  const program = join(folder, 'thread.js');
  writeFileSync(
    program,
    `const { parentPort } = require('node:worker_threads');
     parentPort.on('message', ({ content }) => {
       if (content === '"slow"') for (;;);
       if (content === '"fatal"') process.exit(1);
       parentPort.postMessage({ content: content.replace('ada', '[name]'), problem: null });
     });`,
  );
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['slow', /too long/],
    ['fatal', /ended/],
  ])('is replaced after content that is %s', async (content, reason) => {
    const lane = new MaskingLane(program);
    const results = await Promise.allSettled(
      ['ada 1', content, 'ada 2'].map((text) => lane.mask(text, [], { length: text.length, owner: 'a' })),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: '[name] 1' },
      { status: 'rejected', reason: expect.any(MaskingFailed) },
      { status: 'fulfilled', value: '[name] 2' },
    ]);
    expect(results[1]).toMatchObject({ reason: { message: expect.stringMatching(reason) } });
    await lane.close();
  });

  it('takes only as much content as may wait', async () => {
    const lane = new MaskingLane(program);
    const most = 2_097_152;
    const mask = (owner: string, length: number) => lane.mask('ada', [], { length, owner });
    const first = mask('a', most);
    await expect(mask('a', 1)).rejects.toThrow(MaskingFailed);
    const others = ['b', 'c', 'd'].map((owner) => mask(owner, most));
    await expect(mask('e', 1)).rejects.toThrow(MaskingFailed);
    expect(await Promise.all([first, ...others])).toEqual(Array(4).fill('[name]'));
    expect(await mask('a', most)).toBe('[name]');
    await lane.close();
  });

  it('takes the content of owners in turn', async () => {
    const lane = new MaskingLane(program);
    const order: string[] = [];
    const mask = (owner: string, length: number) =>
      lane.mask('ada', [], { length, owner }).then(() => order.push(owner));
    await Promise.all([...Array.from({ length: 20 }, () => mask('a', 100_000)), mask('b', 1_000), mask('b', 1_000)]);
    expect(order.slice(0, 4)).toEqual(['a', 'b', 'b', 'a']);
    expect(order).toHaveLength(22);
    await lane.close();
  });

  it('takes no content after the end', async () => {
    const lane = new MaskingLane(program);
    const ended = ['slow', 'ada']
      .map((text) => lane.mask(text, [], { length: 4, owner: 'a' }))
      .map((masked) => expect(masked).rejects.toThrow(MaskingFailed));
    await new Promise(setImmediate);
    await lane.close();
    await Promise.all(ended);
    await expect(lane.mask('ada', [], { length: 3, owner: 'a' })).rejects.toThrow(MaskingFailed);
  });

  it('masks long content, and content with own patterns', async () => {
    const here = jest.spyOn(finders, 'email');
    const masker = new Re2Masker(shippedProgram('infrastructure/masking/masking-thread.js'));
    const long = filled(' ', 16_384);
    expect(await masker.mask(`${long}ada@example.com`, ['email'])).toBe(`${long}[email]`);
    expect(await masker.mask('ada@example.com', ['email', { name: 'own', pattern: 'ada' }])).toBe('[email]');
    expect(here).not.toHaveBeenCalled();
    expect(await masker.mask('ada@example.com', ['email'])).toBe('[email]');
    expect(here).toHaveBeenCalled();
    here.mockRestore();
    await masker.close();
  });
});
