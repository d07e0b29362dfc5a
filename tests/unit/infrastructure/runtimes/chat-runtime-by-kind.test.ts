import type { ChatEngine, EngineRuntime } from '../../../../src/application/chat/ports.js';
import { ChatRuntimeByKind } from '../../../../src/infrastructure/runtimes/chat-runtime-by-kind.js';
import { AsyncRequestContext } from '../../../../src/infrastructure/system/adapters.js';

it('ChatRuntimeByKind starts a runtime outside of the request context of its caller', () => {
  const requests = new AsyncRequestContext();
  const starters: (string | null)[] = [];
  const runtime = { status: { state: 'stopped', reason: null }, start: () => starters.push(requests.id) };
  const engine = { kind: 'toy', create: () => runtime as unknown as EngineRuntime } as unknown as ChatEngine;
  const runtimes = new ChatRuntimeByKind([engine]);
  requests.within('req_1', () => runtimes.start('prj_1', { kind: 'toy' }));
  expect(starters).toEqual([null]);
});
