import * as crypto from 'node:crypto';
import { ConfiguredMasterKey } from '../../../src/infrastructure/crypto/secrets.js';
import { masterKeyContract } from './master-key.contract.js';

jest.mock('node:crypto', () => {
  const actual = jest.requireActual<typeof crypto>('node:crypto');
  return { ...actual, timingSafeEqual: jest.fn(actual.timingSafeEqual) };
});

masterKeyContract('the configuration', (key) => new ConfiguredMasterKey(key));

describe('MasterKey of the configuration', () => {
  it('compares values of one length, in a time that does not depend on what is in them', () => {
    const compare = jest.mocked(crypto.timingSafeEqual);
    const masterKey = new ConfiguredMasterKey('Correct-Horse-Battery-Staple');
    for (const credential of ['', 'C', 'Correct-Horse-Battery-Stapl', 'Correct-Horse-Battery-Staple']) {
      compare.mockClear();
      masterKey.matches(credential);
      expect(compare).toHaveBeenCalledTimes(1);
      expect(compare.mock.calls[0]?.map(({ byteLength }) => byteLength)).toEqual([32, 32]);
    }
  });
});
