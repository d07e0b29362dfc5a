import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ModelOperation } from '../../../src/application/deployments/ports.js';
import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../../../src/infrastructure/child-process/health-proof.js';
import { endWithParent } from '../../../src/infrastructure/child-process/managed-process.js';
import {
  LENGTH_HEADER,
  type ServeOrder,
  type ServerMessage,
} from '../../../src/infrastructure/model-server/protocol.js';

// This program stands in for the model server. The first word of its model file names its behaviour. `do` in the body
// of a prediction names the answer.

const LENGTH = LENGTH_HEADER.toLowerCase();

const say = (report: ServerMessage | object) => process.send?.(report, undefined, undefined, () => undefined);
const sayBroken = (reason: string) =>
  process.send?.({ type: 'broken', reason } satisfies ServerMessage, undefined, undefined, () => process.exit(1));

const behaviours: Readonly<Record<string, (order: ServeOrder) => void>> = {
  fine: (order) => serve(order, order.secret),
  /** Gives a wrong health proof, like another process on the port. */
  liar: (order) => serve(order, '00'.repeat(32)),
  mute: () => setInterval(() => undefined, 1_000),
  /** Writes a line, then does nothing more. */
  stuck: (order) => {
    process.stderr.write(`waiting for ${order.file}\n`);
    setInterval(() => undefined, 1_000);
  },
  complaining: (order) => {
    process.stderr.write(`no operator for ${order.file}\n`);
    sayBroken('It does not load.');
  },
  crash: (order) => {
    process.stderr.write(`no luck with ${order.file}\n`, () => process.exit(3));
  },
  wordy: (order) => {
    const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n}`);
    process.stdout.write(`${'x'.repeat(20_000)}\n${lines.join('\n')}\n`, () => serve(order, order.secret));
  },
};

function serve(order: ServeOrder, secret: string): void {
  const server = createServer((request, response) => {
    if (request.url === '/health') {
      response.setHeader(PROOF_HEADER, String(proofOf(secret, request.headers[CHALLENGE_HEADER])));
      response.end('{}');
    } else if (request.method === 'GET') read(order, request, response);
    else void predict(order, request, response);
  });
  server.listen(0, '127.0.0.1', () => say({ type: 'listening', port: (server.address() as AddressInfo).port }));
  console.log(`serving ${order.name} from ${order.modelPath}`);
}

function read(order: ServeOrder, { url = '' }: IncomingMessage, response: ServerResponse): void {
  const operation = operations[url.replace(`/models/${order.id}`, '/models/{model}')];
  const text = JSON.stringify({ operation, name: order.name });
  response.writeHead(operation ? 200 : 404, { 'content-type': 'application/json' }).end(text);
}

const operations: Readonly<Record<string, ModelOperation>> = {
  '/v2': 'server_metadata',
  '/v2/health/live': 'server_live',
  '/v2/health/ready': 'server_ready',
  '/v2/models/{model}': 'model_metadata',
  '/v2/models/{model}/ready': 'model_ready',
};

/** Contains the connections that end with their next request. */
const closing = new WeakSet<Socket>();

async function predict(order: ServeOrder, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { socket } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const requestId = request.headers['x-request-id'];
  const json = (status: number, value: object, headers = {}) => {
    const text = JSON.stringify(value);
    const length = { 'content-length': Buffer.byteLength(text) };
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...length, ...headers }).end(text);
  };
  const refuse = (status: number, code: string, headers = {}) =>
    json(status, { status: 'error', code, error: 'as asked', request_id: requestId }, headers);
  const outputs = { y: { data: [body.length], shape: [1], datatype: 'INT64' } };
  const large = Buffer.alloc(3 * 1_024 * 1_024, ' ');
  const acts: Record<string, () => unknown> = {
    echo: () => json(200, { outputs, name: order.name, given: request.headers['content-length'] ?? null }),
    refuse: () => refuse(422, 'invalid_request'),
    busy: () => refuse(429, 'model_busy', { 'retry-after': '1' }),
    fault: () => refuse(500, 'internal_error'),
    page: () => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    repeat: () => {
      const length = { [LENGTH]: request.headers[LENGTH] };
      response.writeHead(200, { 'content-type': 'application/octet-stream', ...length }).end(body);
    },
    close: () => {
      closing.add(socket);
      json(200, { outputs });
    },
    drop: () => socket.destroy(),
    hang: () => undefined,
    stick: () => say({ type: 'stuck' }),
    crash: () => process.kill(process.pid, 'SIGKILL'),
    half: () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 }).write('{"outputs":');
      setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    },
    large: () => response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.concat([large, body])),
  };
  if (closing.has(socket)) return void socket.destroy();
  const act = acts[actOf(body.subarray(0, Number(request.headers[LENGTH] ?? body.length))) ?? ''];
  if (act) act();
  else refuse(400, 'malformed_json');
}

function actOf(body: Buffer): string | null {
  try {
    return (JSON.parse(body.toString()) as { do?: string }).do ?? 'echo';
  } catch {
    return null;
  }
}

endWithParent();
process.on('SIGTERM', () => process.exit(0));
process.once('message', (order: ServeOrder) => {
  const [word = ''] = readFileSync(order.file, 'utf8').split(/\s/);
  const behaviour = behaviours[word];
  if (behaviour) behaviour(order);
  else sayBroken(`Protobuf parsing failed in ${order.file}.`);
});
