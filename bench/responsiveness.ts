import { Service } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';

/**
 * How soon /health/live answers while chats are under way: three callers at a time prefill prompts of about 200 tokens,
 * again and again, and a fourth asks for a long answer. `npm run bench:responsiveness [seconds]`
 */
const SECONDS = Number(process.argv[2] ?? 10);
const LIMIT_MS = 100;

async function main(): Promise<void> {
  const service = await Service.start({ databaseUrl: null });
  const { token, apiKey } = await register(service, 'Ada');
  const project = await readyProject(service, token);
  const idle = await measured(service, 2);
  let running = true;
  const seen = { prompts: 0, tokens: 0 };
  const chat = async (question: string) => {
    while (running) {
      const { status, body } = await service.post(completions(project), apiKey, ask(project, question));
      if (status !== 200) throw new Error(`${status} ${body.code}: ${body.error}`);
      seen.prompts++;
      seen.tokens = Math.max(seen.tokens, body.usage.prompt_tokens);
    }
  };
  const prompt = `Repeat after me: ${'blue river seven '.repeat(23)}`;
  const chats = [...Array.from({ length: 3 }, (_, n) => chat(`${prompt}${n}`)), chat('Count from 1 to 50.')];
  const busy = await measured(service, SECONDS);
  running = false;
  await Promise.all(chats);
  await service.stop();
  console.log(`prompts answered ${seen.prompts}, the longest with ${seen.tokens} tokens`);
  console.log(`/health/live, idle   ${figures(idle)}`);
  console.log(`/health/live, busy   ${figures(busy)}`);
  const max = Math.max(...busy);
  console.log(max <= LIMIT_MS ? `every answer within ${LIMIT_MS} ms` : `an answer took ${max.toFixed(1)} ms`);
  if (max > LIMIT_MS) process.exitCode = 1;
}

async function measured(service: Service, seconds: number): Promise<number[]> {
  const times: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    const begun = performance.now();
    await fetch(`${service.url}/health/live`).then((response) => response.text());
    times.push(performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return times;
}

function figures(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `n ${sorted.length}  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms`;
}

void main();
