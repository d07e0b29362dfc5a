import type { ChatEngine, ChatRuntime } from '../../../../src/application/chat/ports.js';
import { CallTelemetry } from '../../../../src/infrastructure/chat-runtimes/call-telemetry.js';
import { ChatRuntimesByEngine } from '../../../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { AsyncRequestContext } from '../../../../src/infrastructure/system/adapters.js';

it('ChatRuntimesByEngine starts a runtime outside of the request context of its caller', () => {
  const requests = new AsyncRequestContext();
  const starters: (string | null)[] = [];
  const runtime = { status: { state: 'stopped', reason: null }, start: () => starters.push(requests.id) };
  const engine = { kind: 'toy', create: () => runtime as unknown as ChatRuntime } as unknown as ChatEngine;
  const runtimes = new ChatRuntimesByEngine([engine], new CallTelemetry());
  requests.within('req_1', () => runtimes.start('prj_1', { kind: 'toy' }));
  expect(starters).toEqual([null]);
});
