import { timesOf } from '../../../src/interfaces/web/console/pages/calls/times.js';
import { answersIn, questionIn, requestIn } from '../../../src/interfaces/web/console/shared/call-content.js';
import { recordingOf } from '../../../src/interfaces/web/console/shared/recording.js';

const usage = (time_to_first_token: number | null) => ({ tokens_in: 1, tokens_out: 1, time_to_first_token });
const attempt = (ms: number, outcome = 'answered') => ({ model_id: 'mdl_1', outcome, ms });

describe('the times of a call', () => {
  const call = { created_at: 100, started_at: 101, finished_at: 110, usage: usage(8), attempts: [] };

  it('are its parts from the arrival to the end, in order', () => {
    const attempts = [attempt(2_000, 'runtime_unavailable'), attempt(5_000)];
    const { spans, total, firstToken } = timesOf({ ...call, attempts });
    expect([total, firstToken]).toEqual([10, 8]);
    expect(spans.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['wait', 0, 1],
      ['entry', 1, 3],
      ['attempt', 3, 5],
      ['attempt', 5, 10],
      ['answer', 8, 10],
    ]);
    expect(spans[2]?.attempt).toEqual({ model: 'mdl_1', outcome: 'runtime_unavailable' });
  });

  it('stay within the call, also if clocks differ, and if parts are missing', () => {
    const odd = { ...call, started_at: 99, usage: usage(60), attempts: [attempt(60_000), attempt(4_000)] };
    for (const { from, to } of timesOf(odd).spans) {
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeGreaterThanOrEqual(from);
      expect(to).toBeLessThanOrEqual(10);
    }
    expect(timesOf({ ...call, started_at: null, usage: null })).toEqual({ spans: [], total: 10, firstToken: null });
    expect(timesOf({ ...call, finished_at: 99 }).total).toBe(0);
  });
});

describe('the content of a call', () => {
  it('is read with its texts, images, tools, tool calls and settings', () => {
    const messages = [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: [{ text: 'Look' }, { image: 'not kept' }, { text: 'here' }] },
      { role: 'assistant', content: '', reasoning: 'Hm', tool_calls: [{ id: 'c', name: 'find', arguments: '{}' }] },
      { role: 'tool', content: '7', tool_call_id: 'c' },
    ];
    const request = { max_tokens: null, temperature: 0, messages, tools: [{ name: 'find' }] } as never;
    const read = requestIn({ request });
    expect(read.messages.map(({ role, text, images }) => [role, text, images])).toEqual([
      ['system', 'Be short.', 0],
      ['user', 'Look\nhere', 1],
      ['assistant', '', 0],
      ['tool', '7', 0],
    ]);
    expect(read.messages[2]).toMatchObject({
      reasoning: 'Hm',
      toolCalls: [{ id: 'c', name: 'find', arguments: '{}' }],
    });
    expect(read.messages[3]?.toolCallId).toBe('c');
    expect([read.tools.length, read.settings]).toEqual([1, [['temperature', 0]]]);
    expect(questionIn({ request })).toBe('Look\nhere');
    const answer = { content: 'One', finish_reason: 'stop', others: [{ content: 'Two' }] } as never;
    expect(answersIn({ answer }).map(({ text, finishReason }) => [text, finishReason])).toEqual([
      ['One', 'stop'],
      ['Two', ''],
    ]);
  });

  it('may be missing, or cut anywhere', () => {
    const cut = [
      null,
      'x',
      [],
      {},
      { messages: 'x' },
      { messages: [null, 1, { role: 7, content: [null, { text: 1 }] }] },
    ];
    for (const request of cut) expect(questionIn({ request: request as never })).toBe('');
    expect(questionIn({ request: { texts: ['first', 'second'] } as never })).toBe('first');
    for (const answer of [null, 'x', 1]) expect(answersIn({ answer })).toEqual([]);
    expect(answersIn({ answer: { tool_calls: [{}], others: 'x' } as never })[0]?.toolCalls).toEqual([
      { id: '', name: '', arguments: '' },
    ]);
  });
});

describe('what a project keeps', () => {
  it('has a default for each field that is missing or null', () => {
    const defaults = { share: 1, content: 'none', days: 30, mask: [] };
    for (const record of [undefined, null, {}, { share: null, days: null }, { mask: 'odd' }])
      expect(recordingOf({ record })).toEqual(defaults);
    expect(recordingOf({ record: 'odd' })).toEqual({ ...defaults, share: 0 });
    const given = { share: 0.5, content: 'full', days: 7, mask: ['email'] };
    expect(recordingOf({ record: given })).toEqual(given);
  });
});
