import { RuntimeLoading, RuntimeNotConnected, RuntimeStopped, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';

/** Throws an error that says why the runtime takes no calls. Returns if it is ready. */
export function requireReady({ state, reason, targets }: ProjectRuntime): void {
  if (state === 'not_connected') throw new RuntimeNotConnected();
  if (state === 'stopped') throw new RuntimeStopped();
  if (state === 'loading') throw new RuntimeLoading();
  if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run', retryAfterOf(targets));
}

/** Returns the seconds until a target may answer again. A target that is only lost is probed every few seconds. */
function retryAfterOf(targets: ProjectRuntime['targets']): number {
  return Math.min(...targets.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 1));
}
