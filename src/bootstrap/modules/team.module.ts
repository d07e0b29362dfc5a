import { ContainerModule } from 'inversify';
import { EndCredential } from '../../application/access/end-credential.js';
import { ListCredentials } from '../../application/access/list-credentials.js';
import { MintKey } from '../../application/access/mint-key.js';
import { Credentials } from '../../application/access/ports/credentials.js';
import { ChangeRole } from '../../application/accounts/change-role.js';
import { CreateInvite } from '../../application/accounts/create-invite.js';
import { ListAccounts } from '../../application/accounts/list-accounts.js';
import { ListInvites } from '../../application/accounts/list-invites.js';
import { LookUpInvite } from '../../application/accounts/look-up-invite.js';
import { Accounts } from '../../application/accounts/ports/accounts.js';
import { Invites } from '../../application/accounts/ports/invites.js';
import { RemoveAccount } from '../../application/accounts/remove-account.js';
import { RevokeInvite } from '../../application/accounts/revoke-invite.js';
import { Audit } from '../../application/audit/audit.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { SecretTokens } from '../../application/shared/ports/secret-tokens.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { Sealer } from '../../infrastructure/crypto/sealer.js';
import { TypeOrmInvites } from '../../infrastructure/typeorm/accounts/typeorm-invites.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { CredentialsController } from '../../interfaces/http/access/credentials.controller.js';
import { TeamController } from '../../interfaces/http/accounts/team.controller.js';
import { provide, provideValue } from '../provide.js';
import { InviteSealer } from '../tokens.js';

/** The team, its invites, and the credentials of its accounts. */
export const teamModule = (secret: string) =>
  new ContainerModule((module) => {
    provideValue(module, InviteSealer, new Sealer(secret, 'invites'));
    provide(module, Invites, TypeOrmInvites, [TypeOrmUnitOfWork, InviteSealer]);
    provide(module, ListAccounts, ListAccounts, [Accounts]);
    provide(module, ChangeRole, ChangeRole, [UnitOfWork, Accounts, Invites, Audit]);
    provide(module, RemoveAccount, RemoveAccount, [UnitOfWork, Accounts, Invites, Audit]);
    provide(module, CreateInvite, CreateInvite, [Invites, Audit, SecretTokens, Identifiers, Clock]);
    provide(module, ListInvites, ListInvites, [Invites, Clock]);
    provide(module, RevokeInvite, RevokeInvite, [UnitOfWork, Invites, Audit, Clock]);
    provide(module, LookUpInvite, LookUpInvite, [Invites, Accounts, SecretTokens, Clock]);
    provide(module, MintKey, MintKey, [Credentials, Audit, SecretTokens, Identifiers, Clock]);
    provide(module, ListCredentials, ListCredentials, [Credentials, Clock]);
    provide(module, EndCredential, EndCredential, [Credentials, Audit]);
    provide(module, TeamController, TeamController, [
      ListAccounts,
      ChangeRole,
      RemoveAccount,
      ListInvites,
      CreateInvite,
      RevokeInvite,
      LookUpInvite,
    ]);
    provide(module, CredentialsController, CredentialsController, [MintKey, ListCredentials, EndCredential]);
  });
