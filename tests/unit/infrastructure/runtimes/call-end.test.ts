import { CallEnd, type EndSignal } from '../../../../src/infrastructure/runtimes/call-end.js';

interface Made {
  readonly signal: EndSignal;
  readonly abort: (reason: unknown) => void;
}

const kinds: [string, () => Made][] = [
  [
    'a CallEnd',
    () => {
      const end = new CallEnd();
      return { signal: end, abort: (reason) => end.abort(reason) };
    },
  ],
  [
    'an AbortController, whose work that is,',
    () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
    },
  ],
];

describe.each(kinds)('%s', (_, made) => {
  it('tells each listener once, of the first reason', () => {
    const { signal, abort } = made();
    const heard: unknown[] = [];
    const twice = () => heard.push(['twice', signal.reason]);
    signal.addEventListener('abort', twice);
    signal.addEventListener('abort', twice);
    signal.addEventListener('abort', () => heard.push(['other', signal.aborted]));
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    abort('first');
    abort('second');
    expect(heard).toEqual([
      ['twice', 'first'],
      ['other', true],
    ]);
    expect([signal.aborted, signal.reason]).toEqual([true, 'first']);
  });

  it('tells none that was removed, not even by one that is told before it', () => {
    const { signal, abort } = made();
    const heard: string[] = [];
    const later = () => heard.push('later');
    const before = () => heard.push('before');
    signal.addEventListener('abort', before);
    signal.addEventListener('abort', () => signal.removeEventListener('abort', later));
    signal.addEventListener('abort', later);
    signal.removeEventListener('abort', before);
    abort('over');
    expect(heard).toEqual([]);
  });

  it('tells none that comes too late', () => {
    const { signal, abort } = made();
    abort('over');
    const heard = jest.fn();
    signal.addEventListener('abort', heard);
    abort('again');
    expect(heard).not.toHaveBeenCalled();
  });
});
