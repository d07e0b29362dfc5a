import { BegunCalls } from '../../../../src/application/jobs/begun-calls.js';
import type { Jobs } from '../../../../src/application/jobs/ports/jobs.js';
import { MemoryLog } from '../../../../src/infrastructure/memory/shared/memory-log.js';
import { AsyncCurrentRequest } from '../../../../src/infrastructure/system/async-current-request.js';
import { PatientSharing } from '../../../../src/infrastructure/typeorm/patient-sharing.js';
import { aCall } from '../../../support/records.js';

describe('the beginnings of calls', () => {
  it('are written on behalf of none of them', async () => {
    const request = new AsyncCurrentRequest();
    const written = new Promise((resolve) => {
      const jobs = { add: async () => resolve(request.id) } as Partial<Jobs> as Jobs;
      const begun = new BegunCalls(jobs, new MemoryLog(), new PatientSharing());
      request.within('r1', () => begun.begin(aCall()));
    });
    expect(await written).toBeNull();
  });
});
