import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Runs as a process: a collector that accepts all spans and ignores them. Sends its port to its parent. */
const server = createServer((request, response) => {
  request.resume().once('end', () => response.end());
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
