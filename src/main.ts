import { startService } from './bootstrap/app.js';

/** Handles signals and exit codes. `bootstrap` makes everything else. */
const stopping = new AbortController();
const service = startService(stopping.signal);

function end(): void {
  if (stopping.signal.aborted) return; // npm passes Ctrl-C on a second time
  stopping.abort();
  service
    .then(
      (running) => running.stop(),
      () => undefined,
    ) // an aborted start has cleaned up
    .then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
}
process.on('SIGTERM', end).on('SIGINT', end);

service.then(
  ({ url }) => console.log(`ready ${url}`),
  (error: Error) => {
    if (stopping.signal.aborted) return;
    for (const line of error.message.split('\n')) console.error(line);
    process.exit(1);
  },
);
