import { query } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { at } from '../../support/records.js';
import { spentSiteTokensContract } from './spent-site-tokens.contract.js';

spentSiteTokensContract('memory', memoryUnderTest());
spentSiteTokensContract('PostgreSQL', postgresUnderTest());

describe('SpentSiteTokens kept by PostgreSQL', () => {
  const store = postgresUnderTest();

  it('keeps no row of those that have expired', async () => {
    const { spentSiteTokens } = await store.open();
    for (let token = 0; token < 5; token++) await spentSiteTokens.spend(`short ${token}`, at(60), at(0));
    await spentSiteTokens.spend('long', at(120), at(0));
    await spentSiteTokens.spend('late', at(60), at(60));
    expect(await query(store.url, 'SELECT jti, expires_at FROM spent_site_tokens')).toEqual([
      { jti: 'long', expires_at: at(120) },
    ]);
  });
});
