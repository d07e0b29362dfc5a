import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Request } from 'express';
import { flowing, limitArrival } from '../../src/interfaces/http/middleware/connections.js';

/** A request whose body the test sends. */
function aRequest(headers: IncomingMessage['headers'] = { 'transfer-encoding': 'chunked' }) {
  const body = new PassThrough();
  return { body, request: Object.assign(body, { headers, complete: false }) as unknown as Request };
}

describe('the arrival of a body', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('is waited for a minute', () => {
    const late = jest.fn();
    limitArrival(aRequest().request, late);
    jest.advanceTimersByTime(59_999);
    expect(late).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it('is not waited for where there is none, or all is there', async () => {
    const late = jest.fn();
    limitArrival(aRequest({}).request, late);
    limitArrival(aRequest({ 'content-length': '0' }).request, late);
    limitArrival(Object.assign(aRequest().request, { complete: true }), late);
    const { body, request } = aRequest();
    limitArrival(request, late);
    body.end('all of it');
    for await (const _ of request);
    jest.advanceTimersByTime(600_000);
    expect(late).not.toHaveBeenCalled();
  });

  it('may take long as long as it flows, and a minute after that', async () => {
    const late = jest.fn();
    const { body, request } = aRequest();
    limitArrival(request, late);
    const pieces = flowing(request);
    for (let minute = 0; minute < 20; minute++) {
      body.write(Buffer.alloc(64 * 1024));
      expect((await pieces.next()).value).toHaveLength(64 * 1024);
      jest.advanceTimersByTime(14_000);
    }
    expect(late).not.toHaveBeenCalled();
    await pieces.return(undefined);
    jest.advanceTimersByTime(60_000);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['stalls', 0],
    ['only trickles', 1_000],
  ])('is given up when it %s', async (_, bytes) => {
    const { body, request } = aRequest();
    const pieces = flowing(request);
    body.write('the beginning');
    await pieces.next();
    for (let second = 0; second < 14; second++) {
      jest.advanceTimersByTime(1_000);
      if (bytes === 0) continue;
      body.write(Buffer.alloc(bytes));
      await pieces.next();
    }
    const next = pieces.next();
    jest.advanceTimersByTime(1_000);
    await expect(next).rejects.toMatchObject({ code: 'request_timeout', status: 408 });
    expect(request.destroyed).toBe(false);
  });

  it('is not given up for the slowness of whoever takes it', async () => {
    const { body, request } = aRequest();
    const pieces = flowing(request);
    body.write('the beginning');
    await pieces.next();
    body.write('more');
    await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(300_000);
    body.end('the end');
    const rest: Uint8Array[] = [];
    for await (const piece of pieces) rest.push(piece);
    expect(Buffer.concat(rest).toString()).toBe('morethe end');
  });

  it('ends with a refusal when it is cut off', async () => {
    const { body, request } = aRequest();
    const pieces = flowing(request);
    body.write('the beginning');
    await pieces.next();
    const next = pieces.next();
    body.destroy();
    await expect(next).rejects.toMatchObject({ code: 'bad_request' });
    await expect(flowing(request).next()).rejects.toMatchObject({ code: 'bad_request' });
  });
});
