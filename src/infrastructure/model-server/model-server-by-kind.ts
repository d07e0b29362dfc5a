import type { ModelAnswer, ModelRequest, ModelServer, ServerState } from '../../application/deployments/ports.js';
import type { ServedModel } from '../../domain/deployments/deployment.js';

/** Serves each model by the server for its kind. */
export class ModelServerByKind implements ModelServer {
  constructor(private readonly servers: Readonly<Record<ServedModel['kind'], ModelServer>>) {}

  start(id: string, model: ServedModel, signal: AbortSignal): Promise<string> {
    return this.servers[model.kind].start(id, model, signal);
  }

  resume(id: string, model: ServedModel): void {
    this.servers[model.kind].resume(id, model);
  }

  probe(id: string): Promise<ServerState> {
    return this.serverOf(id).probe(id);
  }

  ids(kind?: ServedModel['kind']): readonly string[] {
    return kind ? this.servers[kind].ids() : this.all.flatMap((server) => server.ids());
  }

  stop(id: string): Promise<void> {
    return this.serverOf(id).stop(id);
  }

  request(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    return this.serverOf(id).request(id, request, signal);
  }

  setLoaded(model: ServedModel, loaded: boolean): Promise<void> {
    return this.servers[model.kind].setLoaded(model, loaded);
  }

  output(id: string, lines: number): Promise<string[]> {
    return this.serverOf(id).output(id, lines);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((server) => server.close()));
  }

  private get all(): ModelServer[] {
    return Object.values(this.servers);
  }

  /** Returns the local server for an id that no server has. Both servers would give the same answers. */
  private serverOf(id: string): ModelServer {
    return this.servers.remote.ids().includes(id) ? this.servers.remote : this.servers.local;
  }
}
