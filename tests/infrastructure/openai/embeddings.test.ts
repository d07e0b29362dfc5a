import { embeddingsOf } from '../../../src/infrastructure/openai/embeddings.js';

const item = (index: number, embedding: unknown = [index, 0.5]) => ({ object: 'embedding', index, embedding });
const list = (data: unknown, more: object = {}) => ({ object: 'list', model: 'm', data, ...more });

describe('the embeddings of an engine that speaks OpenAI', () => {
  const read = (answer: object, dimensions?: number) => {
    const request = { texts: ['a', 'b'], ...(dimensions && { dimensions }) };
    return embeddingsOf(request, 'm', ['m', 'n']).answer.safeParse(answer);
  };

  it('are asked for in base64, with the dimensions only if the caller names them', () => {
    const body = { model: 'm', input: ['a'], encoding_format: 'base64' };
    expect(embeddingsOf({ texts: ['a'] }, 'm', ['m'])).toMatchObject({ path: '/embeddings', body });
    expect(embeddingsOf({ texts: ['a'] }, 'm', ['m']).body).not.toHaveProperty('dimensions');
    expect(embeddingsOf({ texts: ['a'], dimensions: 8 }, 'm', ['m']).body).toEqual({ ...body, dimensions: 8 });
  });

  it('are accepted as numbers or in base64, in the order of their indexes', () => {
    const vectors = [Float32Array.of(0, 0.5), Float32Array.of(1, 0.5)];
    const usage = { prompt_tokens: 2, total_tokens: 2 };
    expect(read(list([item(1, 'AACAPwAAAD8='), item(0)], { model: 'n', usage })).data).toEqual({
      vectors,
      promptTokens: 2,
    });
    expect(read(list([item(0), item(1)], { usage: 7 })).data).toEqual({ vectors, promptTokens: null });
    expect(read(list([item(0), item(1)]), 2).success).toBe(true);
  });

  it.each<[string, object, RegExp, number?]>([
    ['no list', { object: 'error' }, /no list/],
    ['another model', list([item(0), item(1)], { model: 'x' }), /another model/],
    ['too few', list([item(0)]), /another number/],
    ['one index twice', list([item(0), item(0)]), /another number/],
    ['an index beyond', list([item(0), item(2)]), /another number/],
    ['vectors of two lengths', list([item(0), item(1, [1])]), /wrong number of dimensions/],
    ['another length than asked', list([item(0), item(1)]), /wrong number of dimensions/, 3],
    ['an empty vector', list([item(0, []), item(1, [])]), /no vector/],
    ['a word in a vector', list([item(0, ['x', 1]), item(1)]), /no vector/],
    ['a number that is not finite', list([item(0, 'AADAfwAAAAA='), item(1)]), /no vector/],
    ['half a number', list([item(0, 'AAA='), item(1)]), /no vector/],
  ])('are refused for %s', (_, answer, problem, ...[dimensions]) => {
    expect(read(answer, dimensions).error?.issues[0]?.message).toMatch(problem);
  });
});
