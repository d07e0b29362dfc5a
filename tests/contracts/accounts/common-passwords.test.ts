import { ListedCommonPasswords } from '../../../src/infrastructure/crypto/listed-common-passwords.js';
import { commonPasswordsContract } from './common-passwords.contract.js';

commonPasswordsContract('a list', (refused) => new ListedCommonPasswords(refused));
