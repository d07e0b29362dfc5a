import { startService } from './bootstrap/service.js';

/** Signals and exit codes; everything else is made in `bootstrap`. */
const stopping = new AbortController();
const service = startService(stopping.signal);

function end(): void {
  if (stopping.signal.aborted) return; // Ctrl-C under npm arrives twice, and the end is bounded in time
  stopping.abort();
  service
    .then(
      (running) => running.stop(),
      () => undefined,
    ) // a start that was given up has cleaned up
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
