import { injectable } from 'inversify';
import type { RemoteModel, ServedModel } from '../../domain/deployments/deployment.js';
import { DeploymentRepository, ModelServer } from './ports.js';

/** More than concurrent creations and deletions of one model need. */
const MOST_CHANGES = 10;

/** Has the engines elsewhere hold the models that deployments use, and no others. */
@injectable()
export class EngineModels {
  /** The models of the creations under way on this instance. */
  private readonly beginning = new Set<RemoteModel>();

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
  ) {}

  /** Runs a creation, which loads a model. Nothing unloads it here meanwhile. Unloads it if the creation fails. */
  async during<T>(model: ServedModel, creation: () => Promise<T>): Promise<T> {
    if (model.kind === 'local') return creation();
    this.beginning.add(model);
    try {
      return await creation();
    } catch (error) {
      this.beginning.delete(model);
      await this.settle(model, true).catch(() => undefined); // the first error tells more
      throw error;
    } finally {
      this.beginning.delete(model);
    }
  }

  /**
   * Loads or unloads a model after a change of its deployments. `loaded` tells how this instance last saw it. Looks again
   * after each change of the engine, because another instance may have stored or removed a deployment meanwhile: whoever
   * changes the engine last has seen the last change of the deployments.
   */
  async settle(model: ServedModel, loaded: boolean): Promise<void> {
    if (model.kind === 'local') return;
    let isLoaded = loaded;
    for (let changes = 0; changes < MOST_CHANGES; changes++) {
      const isUsed = await this.isUsed(model);
      if (isUsed === isLoaded) return;
      await this.servers.setLoaded(model, isUsed);
      isLoaded = isUsed;
    }
  }

  private async isUsed(model: RemoteModel): Promise<boolean> {
    return [...this.beginning, ...(await this.deployments.all())].some((one) => isSame(one, model));
  }
}

/** Engines load a model with all its versions. */
const isSame = (one: ServedModel, other: RemoteModel): boolean =>
  one.kind === 'remote' && one.endpoint === other.endpoint && one.modelName === other.modelName;
