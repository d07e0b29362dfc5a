import { CheckedTokens } from '../../../src/infrastructure/crypto/checked-tokens.js';
import { secretTokensContract } from './secret-tokens.contract.js';

secretTokensContract('CheckedTokens', () => new CheckedTokens());
