import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes each connection to the next of several processes of the service. */
export class RoundRobin {
  private readonly targets: URL[] = [];
  private readonly sockets = new Set<Socket>();
  private next = 0;
  private readonly server = createServer({ allowHalfOpen: true }, (client) => this.pass(client));

  static async start(): Promise<RoundRobin> {
    const proxy = new RoundRobin();
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  add(url: string): void {
    this.targets.push(new URL(url));
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private pass(client: Socket): void {
    const target = this.targets[this.next++ % this.targets.length];
    if (!target) {
      client.destroy();
      return;
    }
    const server = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        // A side that closes before the end of its data was broken off. Break off the other side, too.
        if (from.readableEnded) to.end();
        else to.destroy();
      });
    }
  }
}
