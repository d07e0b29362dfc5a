import { Patience } from '../../../src/infrastructure/typeorm/patience.js';
import { PatientSharing } from '../../../src/infrastructure/typeorm/patient-sharing.js';
import { asCaller } from '../../support/patience.js';
import { sharingContract } from './sharing.contract.js';

sharingContract('patience', {
  sharing: new PatientSharing(),
  asCaller: (ms, work) => asCaller(ms, work).done,
  mayWait: () => {
    const { ms, over } = Patience.wait(60_000);
    over();
    return ms;
  },
});
