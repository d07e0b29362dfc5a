import { messageOf } from '../../src/interfaces/http/chat/anthropic/answer-mapper.js';

const input = (json: string) => {
  const toolCalls = [{ id: 'call_1', name: 'f', arguments: json }];
  const message = messageOf(
    { id: 'msg_1', model: 'm', marksCache: false },
    { text: '', toolCalls, finishReason: 'tool_calls', usage: null },
  );
  return message.content[0];
};

describe('an answer of the Messages API', () => {
  it('has the arguments of a tool call as an object', () => {
    expect(input('{"a":[1]}')).toEqual({ type: 'tool_use', id: 'call_1', name: 'f', input: { a: [1] } });
    expect(input('')).toMatchObject({ input: {} });
  });

  it.each([
    ['no object', '[1]', /are no JSON object/],
    ['nested too deep', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, /must not be nested deeper/],
    ['of too many values', `{"a":[${'0,'.repeat(250_000)}0]}`, /must not have more than/],
  ])('is no answer with arguments that are %s', (_, json, message) => {
    expect(() => input(json)).toThrow(message);
  });
});
