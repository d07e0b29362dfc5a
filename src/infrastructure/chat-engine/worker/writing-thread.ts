import { parentPort } from 'node:worker_threads';
import { AnswerWriter, type WriterOrder } from './answer-writer.js';

// The program of the thread that holds the model.
const writer = new AnswerWriter((report) => parentPort?.postMessage(report));
parentPort?.on('message', (order: WriterOrder) => void writer.take(order));
