import type { Container } from 'inversify';
import { ChatRuntime } from '../application/chat/ports.js';
import { TendRuntimes } from '../application/chat/tend-runtimes.js';
import { ModelServer } from '../application/deployments/ports.js';
import { TendDeployments } from '../application/deployments/tend-deployments.js';
import { InstanceRegistry } from '../application/jobs/ports.js';
import { Clock, Logger } from '../application/shared/ports.js';
import { removeUnfinished } from '../infrastructure/files/local-model-file-store.js';
import { Repeating } from '../infrastructure/system/repeating.js';
import { regularly } from './regularly.js';

const PAUSE_MS = 2_000;
const GRACE_MS = 5_000;
const TIDYING_PAUSE_MS = 10 * 60_000;
const TIDYING_GRACE_MS = 1_000;

export interface Models {
  /** Brings up what this process is to run, and looks after that from then on. */
  start(): Promise<void>;
  /** Ends all that runs, and leaves it to the other processes of the service. */
  stop(): Promise<void>;
}

/** The deployments and runtimes of this process, and the folder that models are uploaded to. */
export function modelsOf(container: Container, uploadFolder: string): Models {
  const log = container.get(Logger);
  const [runtimes, servers] = [container.get(ChatRuntime), container.get(ModelServer)];
  const [tendRuntimes, tendDeployments] = [container.get(TendRuntimes), container.get(TendDeployments)];
  const tend = async () => {
    await tendRuntimes.execute();
    await tendDeployments.execute();
  };
  const tending = regularly(container, 'tending of models', PAUSE_MS, tend);
  const tidying = new Repeating(
    () => removeUnfinished(uploadFolder, container.get(Clock).now()),
    TIDYING_PAUSE_MS,
    (error) => log.error('what uploads left behind', { error }),
  );
  return {
    async start() {
      tidying.start();
      await tend();
      tending.start();
    },
    async stop() {
      await Promise.all([tending.stop(GRACE_MS), tidying.stop(TIDYING_GRACE_MS)]);
      await Promise.all([runtimes.close(), servers.close()]);
      // Where the database is gone, the others find out by themselves that this process is, too.
      await Promise.all([tendRuntimes.release(), tendDeployments.release()]).catch(() => undefined);
      await container.get(InstanceRegistry).leave();
    },
  };
}
