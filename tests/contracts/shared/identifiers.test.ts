import { UuidIdentifiers } from '../../../src/infrastructure/system/uuid-identifiers.js';
import { identifiersContract } from './identifiers.contract.js';

/** As another process has them: with none of the state that this one's were made from. */
function ofAnotherProcess(): UuidIdentifiers {
  let Identifiers = UuidIdentifiers;
  jest.isolateModules(() => {
    ({ UuidIdentifiers: Identifiers } = require('../../../src/infrastructure/system/uuid-identifiers.js'));
  });
  return new Identifiers();
}

identifiersContract('the uuid package', ofAnotherProcess);

describe('Identifiers made by the uuid package', () => {
  afterEach(() => jest.restoreAllMocks());

  it('keep their order when the system’s clock is set back', () => {
    const identifiers = new UuidIdentifiers();
    const made = [identifiers.next('prj')];
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now - 60_000);
    for (let n = 0; n < 1_000; n++) made.push(identifiers.next('prj'));
    jest.restoreAllMocks();
    made.push(identifiers.next('prj'));
    expect([...made].sort()).toEqual(made);
  });
});
