import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { PATIENT } from './database.js';

/** The way to a database server, which a test can cut or make silent. */
export class CutOffProxy {
  /** How many have ever connected. */
  connected = 0;
  private way: 'open' | 'cut' | 'silent' = 'open';
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((client) => this.pass(client));

  private constructor(private readonly target: URL) {}

  static async before(url: string): Promise<CutOffProxy> {
    const proxy = new CutOffProxy(new URL(url));
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  /** The database's URL, by this way. */
  get url(): string {
    const url = new URL(this.target);
    for (const name of ['host', ...Object.keys(PATIENT)]) url.searchParams.delete(name);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Every connection breaks, and new ones with it. */
  cut(): void {
    this.way = 'cut';
    for (const socket of this.sockets) socket.destroy();
  }

  /** Nothing comes through any more, and nobody says so. */
  silence(): void {
    this.way = 'silent';
    for (const socket of this.sockets) socket.pause();
  }

  /** New connections come through. What was silent stays so, as behind a firewall that has forgotten it. */
  reopen(): void {
    this.way = 'open';
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private pass(client: Socket): void {
    this.keep(client);
    this.connected++;
    if (this.way === 'cut') client.destroy();
    if (this.way !== 'open') return;
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
