import { joinedPages } from '../../../src/interfaces/web/console/shared/paging.js';

const items = (...ids: string[]) => ids.map((id) => ({ id }));

describe('joinedPages', () => {
  it('joins pages with common items, prefers the newer ones, and returns null for a gap', () => {
    const newer = { id: 'c', status: 'ended' };
    expect(joinedPages([...items('e', 'd'), newer], items('d', 'c', 'b', 'a'))).toEqual([
      ...items('e', 'd'),
      newer,
      ...items('b', 'a'),
    ]);
    expect(joinedPages(items('b', 'a'), [])).toEqual(items('b', 'a'));
    expect(joinedPages([], items('a'))).toEqual(items('a'));
    expect(joinedPages(items('h', 'g'), items('d', 'c', 'b', 'a'))).toBeNull();
  });
});
