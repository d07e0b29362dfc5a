import { ContainerModule } from 'inversify';
import { Credentials } from '../../application/access/ports/credentials.js';
import { ChoosePassword } from '../../application/accounts/choose-password.js';
import { Accounts } from '../../application/accounts/ports/accounts.js';
import { Teams } from '../../application/accounts/ports/teams.js';
import { RegisterAccount } from '../../application/accounts/register-account.js';
import { ReplacePassword } from '../../application/accounts/replace-password.js';
import { CreateAdmin } from '../../application/administration/create-admin.js';
import { RevokeSessions } from '../../application/administration/revoke-sessions.js';
import { SetPassword } from '../../application/administration/set-password.js';
import { Audit } from '../../application/audit/audit.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { provide } from '../provide.js';

/** What only the command line does. */
export const administrationModule = () =>
  new ContainerModule((module) => {
    provide(module, CreateAdmin, CreateAdmin, [
      UnitOfWork,
      Accounts,
      Teams,
      ChoosePassword,
      RegisterAccount,
      Audit,
      Identifiers,
      Clock,
    ]);
    provide(module, SetPassword, SetPassword, [UnitOfWork, Accounts, ChoosePassword, ReplacePassword, Audit]);
    provide(module, RevokeSessions, RevokeSessions, [Accounts, Credentials, Audit]);
  });
