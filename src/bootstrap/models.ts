import type { Container } from 'inversify';
import { ChatRuntime } from '../application/chat/ports.js';
import { RuntimeReconciler } from '../application/chat/runtime-reconciler.js';
import { DeploymentReconciler } from '../application/deployments/deployment-reconciler.js';
import { ModelServer } from '../application/deployments/ports.js';
import { InstanceRegistry } from '../application/jobs/ports.js';
import { Clock, Logger } from '../application/shared/ports.js';
import { removeUnfinished } from '../infrastructure/files/local-model-file-store.js';
import { Repeating } from '../infrastructure/system/repeating.js';
import { regularly } from './regularly.js';

/** A change on another instance arrives here within this time. */
const PAUSE_MS = 1_000;
const GRACE_MS = 5_000;
const TIDYING_PAUSE_MS = 10 * 60_000;
const TIDYING_GRACE_MS = 1_000;

export interface Models {
  /** Starts the desired models, and keeps them in the desired state from then on. */
  start(): Promise<void>;
  /** Stops all models of this instance. */
  stop(): Promise<void>;
}

/** Creates what runs the deployments and chat runtimes of this instance and tidies the folder of uploads. */
export function modelsOf(container: Container, uploadFolder: string): Models {
  const log = container.get(Logger);
  const [runtimes, servers] = [container.get(ChatRuntime), container.get(ModelServer)];
  const reconcile = async () => {
    await container.get(RuntimeReconciler).applyAll();
    await container.get(DeploymentReconciler).applyAll();
  };
  const reconciling = regularly(container, 'reconciling models', PAUSE_MS, reconcile);
  const tidying = new Repeating(
    () => removeUnfinished(uploadFolder, container.get(Clock).now()),
    TIDYING_PAUSE_MS,
    (error) => log.error('unfinished uploads not removed', { error }),
  );
  return {
    async start() {
      tidying.start();
      await reconcile();
      reconciling.start();
    },
    async stop() {
      await Promise.all([reconciling.stop(GRACE_MS), tidying.stop(TIDYING_GRACE_MS)]);
      await Promise.all([runtimes.close(), servers.close()]);
      await container.get(InstanceRegistry).leave();
    },
  };
}
