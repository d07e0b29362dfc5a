import { parentPort } from 'node:worker_threads';
import { type CounterOrder, type CounterReport, PromptCounter } from './prompt-counter.js';

// The program of the thread that counts prompts.
const counter = new PromptCounter((report: CounterReport) =>
  parentPort?.postMessage(report, report.type === 'counted' ? [report.prompt.buffer as ArrayBuffer] : []),
);
parentPort?.on('message', (order: CounterOrder) => counter.take(order));
