import { injectable } from 'inversify';
import type { RemoteModel, ServedModel } from '../../domain/deployments/deployment.js';
import { DeploymentRepository, ModelServer } from './ports.js';

/** Limits the loop of `settle`. Concurrent creations and deletions of one model need fewer changes. */
const MOST_CHANGES = 10;

/** Loads the models of deployments on engines elsewhere, and unloads models that no deployment uses any more. */
@injectable()
export class EngineModels {
  /** The models of unfinished creations on this instance. */
  private readonly beginning = new Set<RemoteModel>();

  constructor(
    private readonly deployments: DeploymentRepository,
    private readonly servers: ModelServer,
  ) {}

  /**
   * Runs `creation`, which loads the model. Meanwhile this instance does not unload the model. After a failure, unloads
   * the model if nothing uses it.
   */
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
   * Loads or unloads a model after its deployments have changed. `loaded` is the last known state of the model. Reads
   * the deployments again after each change of the engine, because another instance may have stored or removed a
   * deployment meanwhile. So the instance that changes the engine last has seen the last change of the deployments.
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

/** Ignores the version, because an engine loads all versions of a model. */
const isSame = (one: ServedModel, other: RemoteModel): boolean =>
  one.kind === 'remote' && one.endpoint === other.endpoint && one.modelName === other.modelName;
