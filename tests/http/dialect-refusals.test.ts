import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { MemoryBudget } from '../../src/application/shared/memory-budget.js';
import { ServiceSettings } from '../../src/application/shared/ports.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeNotConnected,
  RuntimeStopped,
  RuntimeUnavailable,
  UnknownModel,
  UnknownParameter,
  UnsupportedParameter,
} from '../../src/domain/chat/errors.js';
import type { DomainError } from '../../src/domain/shared/errors.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { refusalsOf } from '../../src/interfaces/http/openapi/responses.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { ask, type Member, readyProject } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const MB = 1024 * 1024;

/** The failures of a model, each with the status that it has below `/openai/v1`. */
const failures: readonly (readonly [number, DomainError])[] = [
  [400, new ContextLengthExceeded('The prompt is too long.')],
  [400, new UnknownParameter('colour')],
  [400, new UnsupportedParameter('tools', 'is not supported by this model')],
  [404, new UnknownModel()],
  [429, new ModelBusy(3)],
  [502, new RuntimeInvalidResponse('it is empty.')],
  [503, new RuntimeLoading()],
  [503, new RuntimeNotConnected()],
  [503, new RuntimeStopped()],
  [503, new RuntimeUnavailable('it is gone')],
  [504, new InferenceTimeout(60)],
];

class FailingRuntimes extends MemoryChatRuntimes {
  failure: DomainError | null = null;

  override async complete(...call: Parameters<MemoryChatRuntimes['complete']>) {
    if (this.failure) throw this.failure;
    return super.complete(...call);
  }

  override async countTokens(...call: Parameters<MemoryChatRuntimes['countTokens']>) {
    if (this.failure) throw this.failure;
    return super.countTokens(...call);
  }
}

const bodies: Record<string, (model: string) => object> = {
  createOpenAiCompletion: (model) => ({ model, prompt: 'Hi' }),
  createResponse: (model) => ({ model, input: 'Hi' }),
  countInputTokens: (model) => ({ model, input: 'Hi' }),
  createAnthropicMessage: (model) => ({ ...ask(model, 'Hi'), max_tokens: 9 }),
  countAnthropicTokens: (model) => ask(model, 'Hi'),
};

describe('the dialects of the chat API', () => {
  const runtimes = new FailingRuntimes();
  const budget = new MemoryBudget(MB, 100);
  let app: TestApp;
  let admin: Member;
  let model: string;
  let quotas: Record<string, number>;

  beforeAll(async () => {
    ({ app, admin } = await TestApp.withTeam({
      adapt: (container) => {
        const settings = container.get(ServiceSettings);
        quotas = { ...settings.quotas };
        container.rebind(ServiceSettings).toConstantValue({ ...settings, quotas } as unknown as ServiceSettings);
        container.rebind(ChatRuntimes).toConstantValue(runtimes);
        container.rebind(MemoryBudget).toConstantValue(budget);
      },
    }));
    model = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());
  afterEach(() => {
    runtimes.failure = null;
  });

  it.each(Object.keys(bodies))('report each failure of a model that the contract of %s declares', async (id) => {
    const contract = contracts.find((one) => one.id === id) as (typeof contracts)[number];
    const declared = refusalsOf(contract).map(({ code }) => code as string);
    const expected = failures.filter(([, { code }]) => declared.includes(code));
    const seen: string[] = [];
    for (const [, failure] of expected) {
      runtimes.failure = failure;
      seen.push(statusAndCode(await app.post(contract.path, admin.apiKey, bodies[id]?.(model))));
    }
    expect(seen).toEqual(expected.map(([status, { code }]) => `${status} ${code}`));
    expect(seen.length).toBeGreaterThan(5);
  });

  it('refuse a response that the quota has no room for', async () => {
    const create = () => app.post('/openai/v1/responses', admin.apiKey, { model, input: 'Hi' });
    expect((await create()).status).toBe(200);
    const { responseBytes } = quotas;
    quotas.responseBytes = 1;
    expect(statusAndCode(await create())).toBe('400 quota_exceeded');
    quotas.responseBytes = responseBytes as number;
  });

  it('read a stored response only if the memory has room for it', async () => {
    const input = 'x'.repeat(300_000);
    const { body } = await app.post('/openai/v1/responses', admin.apiKey, { model, input, background: true });
    const at = `/openai/v1/responses/${body.id}`;
    const other = budget.open('usr_other');
    await other.reserveBytes(MB - 1_000);
    expect(statusAndCode(await app.get(at, admin.apiKey))).toBe('503 busy');
    expect(statusAndCode(await app.get(`${at}/input_items`, admin.apiKey))).toBe('503 busy');
    expect(statusAndCode(await app.post(`${at}/cancel`, admin.apiKey))).toBe('503 busy');
    other.close();
    expect((await app.get(at, admin.apiKey)).status).toBe(200);
  });
});
