import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Runs an HTTP server for tests on loopback. */
export abstract class LocalServer {
  /** Counts all connections since the start. */
  accepted = 0;
  private readonly sockets = new Set<Socket>();
  protected readonly server = createServer((request, response) => void this.serve(request, response));

  constructor() {
    this.server.on('connection', (socket) => {
      this.accepted++;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  protected abstract serve(request: IncomingMessage, response: ServerResponse): unknown;

  async listen(port = 0): Promise<this> {
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Returns the number of open connections. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.cut();
    await closed;
  }
}

/** Sends JSON, or a text unchanged. */
export function sendJson(
  response: ServerResponse,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): void {
  const body = typeof json === 'string' ? json : JSON.stringify(json);
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
}
