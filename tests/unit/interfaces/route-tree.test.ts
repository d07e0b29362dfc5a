import { RouteTree } from '../../../src/interfaces/http/route-tree.js';

const tree = new RouteTree<string>();
for (const path of ['/a', '/a/{id}', '/a/b', '/a/b/c', '/a/{id}/d', '/a/{id}/{n}', '/f/{path*}', '/f/g'])
  tree.add(path, path);

const found = (path: string) => {
  const { value, params } = tree.find(path) ?? {};
  return value === undefined ? null : [value, params];
};

describe('RouteTree', () => {
  it('gives what stands at a path, and what the path has for its parameters', () => {
    expect(found('/a')).toEqual(['/a', {}]);
    expect(found('/a/1')).toEqual(['/a/{id}', { id: '1' }]);
    expect(found('/a/1/2')).toEqual(['/a/{id}/{n}', { id: '1', n: '2' }]);
  });

  it('prefers a word to a parameter, and goes back where the word leads nowhere', () => {
    expect(found('/a/b')).toEqual(['/a/b', {}]);
    expect(found('/a/1/d')).toEqual(['/a/{id}/d', { id: '1' }]);
    expect(found('/a/b/d')).toEqual(['/a/{id}/d', { id: 'b' }]);
    expect(found('/a/b/x')).toEqual(['/a/{id}/{n}', { id: 'b', n: 'x' }]);
  });

  it('takes a rest in its parts, however many, and prefers a word to it', () => {
    expect(found('/f/x/y%2Fz')).toEqual(['/f/{path*}', { path: ['x', 'y/z'] }]);
    expect(found('/f/x/')).toEqual(['/f/{path*}', { path: ['x', ''] }]);
    expect(found('/f/g')).toEqual(['/f/g', {}]);
    expect(found('/f/g/h')).toEqual(['/f/{path*}', { path: ['g', 'h'] }]);
  });

  it.each(['/', '', '/A', '/a/', '/a//d', '/a/1/', '/a/1/2/3', '/f', '/f/', '/constructor', '/%61'])(
    'finds nothing at %p',
    (path) => {
      expect(found(path)).toBeNull();
    },
  );

  it('decodes parameters', () => {
    expect(found('/a/%C3%A9')).toEqual(['/a/{id}', { id: 'é' }]);
    expect(() => found('/a/%')).toThrow(URIError);
  });
});
