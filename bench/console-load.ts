import { chromium, type Page } from 'playwright-core';
import { EXECUTABLE } from '../tests/support/browser.js';
import { masterKey } from '../tests/support/monitoring.js';
import { Service } from '../tests/support/service.js';
import { register } from '../tests/support/workspace.js';
import { wanted } from './rounds.js';

/**
 * Opens pages of the console on a slow connection, with an empty cache, and prints when they can be used.
 * `npm run bench:console-load`
 */
const CONNECTION = { offline: false, latency: 400, downloadThroughput: 50 * 1024, uploadThroughput: 50 * 1024 };
const JOBS = 300;
const ROUNDS = 3;

async function main(): Promise<void> {
  const service = await Service.start({ databaseUrl: null, env: { SERVICE_MASTER_KEY: masterKey } });
  const browser = await chromium.launch({ executablePath: EXECUTABLE });
  try {
    const ada = await register(service, 'Ada');
    for (let n = 1; n <= JOBS; n++) {
      const { status } = await service.post('/v1/jobs', masterKey, { kind: 'external', name: `training ${n}` });
      if (status !== 201) throw new Error(`a job was answered ${status}`);
    }
    /** Returns the milliseconds from the beginning of the navigation until `isUsable`, and the kilobytes on the wire. */
    const open = async (place: string, isUsable: (page: Page) => Promise<unknown>) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.addInitScript(`sessionStorage.setItem('tenon.session', ${JSON.stringify(ada.token)})`);
      const network = await context.newCDPSession(page);
      let bytes = 0;
      network.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await network.send('Network.enable');
      await network.send('Network.emulateNetworkConditions', CONNECTION);
      const began = performance.now();
      await page.goto(`${service.url}/#${place}`, { waitUntil: 'commit' });
      await isUsable(page);
      const ms = performance.now() - began;
      await context.close();
      return { ms, kilobytes: Math.round(bytes / 1024) };
    };
    const best = async (name: string, place: string, most: number, isUsable: (page: Page) => Promise<unknown>) => {
      const rounds = [];
      for (let n = 0; n < ROUNDS; n++) rounds.push(await open(place, isUsable));
      const fastest = rounds.reduce((least, one) => (one.ms < least.ms ? one : least));
      wanted(`${name}, ${fastest.kilobytes} KB`, fastest.ms / 1_000, 'at most', most, ' s');
    };
    await best('the overview', '/', 3, (page) => page.getByText('Newest jobs').first().waitFor());
    await best(`a table of ${JOBS} jobs`, '/jobs', 3.5, (page) => page.locator('tbody tr').nth(20).waitFor());
  } finally {
    await browser.close();
    await service.stop();
  }
}

void main();
