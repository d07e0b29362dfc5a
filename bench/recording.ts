import { Service } from '../tests/support/service.js';
import { Stage } from './peers.js';
import { compare, medianOf, ratio, type Target, told, wanted } from './rounds.js';
import { chatsOf } from './targets.js';

/**
 * Compares the calls a second of projects that keep none of their calls, the figures, the content, and the content with
 * all kinds of masks. `npm run bench:recording [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;

const mask = ['email', 'phone', 'card', 'iban', 'ip', 'secret'];

/** The two projects without kept calls tell how much the figures differ by chance. */
const PROJECTS = {
  none: { share: 0 },
  again: { share: 0 },
  figures: {},
  content: { content: 'full' },
  masked: { content: 'full', mask },
};

const QUESTION =
  'I met Ada yesterday in the old library near the river, where she works on a history of the capitals of Europe. ' +
  'She asked me which of them are older than Rome, and which have moved since then. What shall I tell her?';

async function main(): Promise<void> {
  const stage = await Stage.open();
  const engine = await stage.fork<number>('instant-engine.js');
  const host = `127.0.0.1:${engine.message}`;
  const databaseUrl = await stage.database('recording');
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: host, SERVICE_MAX_ACCOUNTS: '9' };
  const service = await Service.start({ databaseUrl, env });
  try {
    const targets: Target[] = [];
    for (const [name, record] of Object.entries(PROJECTS))
      targets.push(await chatsOf({ service, databaseUrl, host }, { name, question: QUESTION, record }));
    const { rates } = await compare(targets, { rounds: ROUNDS, callers: CALLERS, postgres: stage.postgres });
    wanted('calls a second, content / none', medianOf(rates.content, rates.none, ratio), 'at least', 0.8);
    wanted('calls a second, masked / none', medianOf(rates.masked, rates.none, ratio), 'at least', 0.8);
    told('calls a second, figures / none', medianOf(rates.figures, rates.none, ratio));
    told('calls a second, none / none', medianOf(rates.again, rates.none, ratio));
  } finally {
    await service.stop();
    await stage.close();
  }
}

void main();
