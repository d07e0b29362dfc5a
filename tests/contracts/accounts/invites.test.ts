import type { Invite } from '../../../src/domain/accounts/invite.js';
import { CheckedTokens } from '../../../src/infrastructure/crypto/checked-tokens.js';
import { Sealer } from '../../../src/infrastructure/crypto/sealer.js';
import { TypeOrmInvites } from '../../../src/infrastructure/typeorm/accounts/typeorm-invites.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { query } from '../../support/database.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { anInvite, aTeam, at } from '../../support/records.js';
import { invitesContract } from './invites.contract.js';

invitesContract('memory', memoryUnderTest());
invitesContract('PostgreSQL', postgresUnderTest());

describe('Invites kept by PostgreSQL', () => {
  const store = postgresUnderTest();
  const { token, digest } = new CheckedTokens().issue('invite');
  let invite: Invite;

  beforeEach(async () => {
    const { teams, invites } = await store.open();
    const team = aTeam();
    await teams.add(team);
    invite = anInvite(team, { token, digest });
    await invites.add(invite);
  });

  it('show no usable token to whoever reads the database', async () => {
    const { invites } = await store.elsewhere();
    for (const status of ['pending', 'redeemed'] as const) {
      await invites.save({ ...invite, status });
      const rows = await query<{ invites: string }>(store.url, 'SELECT invites::text FROM invites');
      const text = rows.map((row) => row.invites).join('\n');
      expect(text).toContain(digest);
      const fields = text.split(/[(),"\s]/);
      const decoded = (['base64url', 'hex'] as const).flatMap((form) =>
        fields.map((field) => Buffer.from(field, form).toString('latin1')),
      );
      for (let start = 0; start + 8 <= token.length; start++) {
        const part = token.slice(start, start + 8);
        for (const form of [text, ...decoded]) expect(form).not.toContain(part);
      }
      for (const field of fields) expect(new CheckedTokens().read(field)).toBeNull();
    }
  });

  it('open with the secret that sealed them, and with no other', async () => {
    const sealedBy = (secret: string) =>
      new TypeOrmInvites(new TypeOrmUnitOfWork(store.source), new Sealer(secret, 'invites'));
    expect(await sealedBy('a secret of the tests').byDigest(digest)).toEqual(invite);
    const stranger = sealedBy('another secret');
    const without = { ...invite, token: '' };
    expect(await stranger.byDigest(digest)).toEqual(without);
    expect(await stranger.find(invite.teamId, invite.id)).toEqual(without);
    expect(await stranger.pending(invite.teamId, at(1))).toEqual([without]);
  });

  it('open in their own row only', async () => {
    const { invites } = await store.elsewhere();
    const second = anInvite({ ...aTeam(), id: invite.teamId });
    await invites.add(second);
    await query(store.url, 'UPDATE invites SET sealed_token = (SELECT sealed_token FROM invites WHERE id = $1)', [
      invite.id,
    ]);
    expect(await invites.byDigest(digest)).toEqual(invite);
    expect(await invites.byDigest(second.digest)).toEqual({ ...second, token: '' });
  });
});
