import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { PATIENT } from './database.js';

/** Passes connections to a database server. A test can cut them or make them silent. */
export class CutOffProxy {
  /** Counts all connections since the start. */
  connected = 0;
  private state: 'open' | 'cut' | 'silent' = 'open';
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.pass(client));

  private constructor(private readonly target: URL) {}

  static async before(url: string): Promise<CutOffProxy> {
    const proxy = new CutOffProxy(new URL(url));
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  /** Returns the URL of the database through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    for (const name of ['host', ...Object.keys(PATIENT)]) url.searchParams.delete(name);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Breaks every connection, also new ones. */
  cut(): void {
    this.state = 'cut';
    for (const socket of this.sockets) socket.destroy();
  }

  /** Passes nothing more, and keeps the connections open. */
  silence(): void {
    this.state = 'silent';
    for (const socket of this.sockets) socket.pause();
  }

  /** Passes new connections. Silent ones stay silent, as behind a firewall that has forgotten them. */
  reopen(): void {
    this.state = 'open';
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private pass(client: Socket): void {
    this.keep(client);
    this.connected++;
    if (this.state === 'cut') client.destroy();
    if (this.state !== 'open') return;
    const server = this.keep(connect(this.destination()));
    client.on('data', (bytes) => server.write(bytes)).once('close', () => server.destroy());
    server.on('data', (bytes) => client.write(bytes)).once('close', () => client.destroy());
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => undefined).once('close', () => this.sockets.delete(socket));
  }

  private destination(): NetConnectOpts {
    const { hostname, port, searchParams } = this.target;
    const folder = searchParams.get('host');
    return folder ? { path: `${folder}/.s.PGSQL.${port || 5432}` } : { host: hostname, port: Number(port || 5432) };
  }
}
