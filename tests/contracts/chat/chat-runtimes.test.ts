import { setTimeout as pause } from 'node:timers/promises';
import type { ChatRequest } from '../../../src/domain/chat/chat.js';
import type { RuntimeSource } from '../../../src/domain/chat/runtime.js';
import { MemoryChatRuntimes } from '../../../src/infrastructure/memory/chat/memory-chat-runtimes.js';
import { ChildRuntimesRig, oddWorker } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, tinyChat, withoutEnd } from '../../support/onnx/model-folders.js';
import { type ChatRuntimesUnderTest, chatRuntimesContract } from './chat-runtimes.contract.js';

const onnx = (folder: string): RuntimeSource => ({ kind: 'onnx', folder });

describe('chat runtimes', () => {
  const folders = new ModelFolders();
  const slow = folders.toy({ idleRounds: 40_000 }, withoutEnd);
  afterAll(() => folders.remove());

  chatRuntimesContract('child processes', ({ babbling, ...limits }): ChatRuntimesUnderTest => {
    const rig = new ChildRuntimesRig({ ...limits, ...(babbling && { worker: oddWorker }) });
    const broken = folders.like({ 'tokenizer.json': null });
    return {
      runtimes: rig.runtimes,
      model: onnx(tinyChat),
      asked: 'What is the capital of France?',
      context: 256,
      slow: onnx(slow),
      broken: onnx(broken),
      mend: () => folders.copy('tokenizer.json', broken),
      babbling: onnx('/models/babbling'),
      crash: (id) => rig.kill(id),
      processes: () => rig.processes().length,
    };
  });
});

chatRuntimesContract('memory', ({ babbling: _, ...limits }): ChatRuntimesUnderTest => {
  const load = () => pause(20);
  let mended = false;
  const loadBroken = async () => {
    await load();
    if (!mended) throw new Error('tokenizer: there is none');
  };
  const slowly = ({ maxTokens }: ChatRequest, signal: AbortSignal) =>
    maxTokens === 1 ? 'brief' : pause(5_000, 'long', { signal });
  const models = {
    model: { load },
    slow: { load, answer: slowly },
    broken: { load: loadBroken },
    babbling: { load, answer: () => 42 },
  };
  const runtimes = new MemoryChatRuntimes(models, { context: 256, restartMs: 20, ...limits });
  return {
    runtimes,
    model: onnx('model'),
    asked: 'What is the capital of France?',
    context: 256,
    slow: onnx('slow'),
    broken: onnx('broken'),
    mend: () => {
      mended = true;
    },
    babbling: onnx('babbling'),
    crash: (id) => runtimes.crash(id),
    processes: () => runtimes.running,
  };
});
