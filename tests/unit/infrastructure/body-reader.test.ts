import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { BodyReader } from '../../../src/infrastructure/model-server/process/inference.js';

const MB = 1024 * 1024;
const compressed = gzipSync(Buffer.alloc(50 * MB));

const requested = () =>
  Object.assign(Readable.from([compressed]), { headers: { 'content-encoding': 'gzip' } }) as unknown as IncomingMessage;

it('BodyReader frees the memory of a compressed body when its caller leaves during the decoding', async () => {
  const bodies = new BodyReader(64 * MB);
  for (let n = 0; n < 6; n++) {
    const response = Object.assign(new EventEmitter(), { closed: false });
    const reading = bodies.read(requested(), response as unknown as ServerResponse, 0);
    setTimeout(() => {
      response.closed = true;
      response.emit('close');
    }, 5);
    await expect(reading).rejects.toThrow('cut off');
  }
  const whole = await bodies.read(requested(), new EventEmitter() as ServerResponse, 0);
  expect(whole).toHaveLength(50 * MB);
});
