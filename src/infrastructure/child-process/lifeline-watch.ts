import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// The program of the watching thread. A signal ends the process even where no JavaScript of it runs any more.
const lifeline = new Socket({ fd: workerData as number, readable: true, writable: false });
lifeline.on('error', () => undefined);
lifeline.on('close', () => process.kill(process.pid, 'SIGKILL'));
lifeline.resume();
parentPort?.postMessage('watching');
