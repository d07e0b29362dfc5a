import { MoreThan } from 'typeorm';
import type { InviteRepository } from '../../../application/accounts/ports.js';
import type { Invite } from '../../../domain/accounts/invite.js';
import { Sealer } from '../../crypto/secrets.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface InviteRow extends Omit<Invite, 'token'> {
  /** The sealed token. Only the service's secret opens it, and the database does not hold this secret. */
  readonly sealedToken: string;
}

export const InviteTable = defineTable<InviteRow>('invites', {
  id: { type: 'text', primary: true },
  teamId: { type: 'text' },
  digest: { type: 'text' },
  sealedToken: { type: 'text' },
  email: { type: 'text', nullable: true },
  role: { type: 'text' },
  invitedBy: { type: 'text' },
  status: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  expiresAt: { type: 'timestamptz' },
});

/** This SQL is written by hand, because planning it takes longer than running it. */
const COUNT_PENDING = `
  SELECT count(*)::integer FROM invites WHERE team_id = $1 AND status = 'pending' AND expires_at > $2`;

const isPending = (teamId: string, now: Date) => ({ teamId, status: 'pending' as const, expiresAt: MoreThan(now) });

export class TypeOrmInviteRepository implements InviteRepository {
  private readonly table = () => this.unitOfWork.repository(InviteTable);

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly sealer: Sealer,
  ) {}

  async add({ token, ...invite }: Invite): Promise<void> {
    await this.table().insert({ ...invite, sealedToken: this.sealer.seal(token, invite.id) });
  }

  async save({ id, token: _, ...change }: Invite): Promise<void> {
    await this.table().update({ id }, change);
  }

  async revokeAllBy(accountId: string): Promise<void> {
    await this.table().update({ invitedBy: accountId, status: 'pending' }, { status: 'revoked' });
  }

  async find(teamId: string, id: string): Promise<Invite | null> {
    const row = await this.table().findOneBy({ id, teamId });
    return row && this.opened(row);
  }

  async byDigest(digest: string): Promise<Invite | null> {
    const row = await this.table().findOneBy({ digest });
    return row && this.opened(row);
  }

  async pending(teamId: string, now: Date): Promise<Invite[]> {
    const rows = await this.table().find({ where: isPending(teamId, now), order: { id: 'DESC' } });
    return rows.map((row) => this.opened(row));
  }

  async countPending(teamId: string, now: Date): Promise<number> {
    const [row] = await this.unitOfWork.prepared<{ count: number }>('pending invites', COUNT_PENDING, [teamId, now]);
    return row?.count ?? 0;
  }

  private opened({ sealedToken, ...invite }: InviteRow): Invite {
    try {
      return { ...invite, token: this.sealer.open(sealedToken, invite.id) };
    } catch {
      return { ...invite, token: '' };
    }
  }
}
