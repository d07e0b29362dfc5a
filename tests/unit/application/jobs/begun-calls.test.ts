import { BegunCalls } from '../../../../src/application/jobs/begun-calls.js';
import type { JobRepository } from '../../../../src/application/jobs/ports.js';
import { AsyncRequestContext } from '../../../../src/infrastructure/system/async-current-request.js';
import { PatientSharing } from '../../../../src/infrastructure/typeorm/patient-sharing.js';
import { MemoryLogger } from '../../../fakes/shared/memory-logger.js';
import { RecordingLog } from '../../../support/recording-log.js';
import { aCall } from '../../../support/records.js';

describe('the beginnings of calls', () => {
  it('are written on behalf of none of them', async () => {
    const request = new AsyncRequestContext();
    const written = new Promise((resolve) => {
      const jobs = { add: async () => resolve(request.id) } as Partial<JobRepository> as JobRepository;
      const begun = new BegunCalls(jobs, new MemoryLogger(), new PatientSharing());
      request.within('r1', () => begun.begin(aCall()));
    });
    expect(await written).toBeNull();
  });

  it('are logged where they are written, and not where the end comes within a moment', async () => {
    const log = new RecordingLog();
    const jobs = { add: async () => undefined } as Partial<JobRepository> as JobRepository;
    const begun = new BegunCalls(jobs, log, new PatientSharing());
    const [short, long] = [aCall(), aCall()];
    begun.begin(short);
    begun.begin(long);
    begun.ends(short.id);
    await log.saw('job began');
    expect(log.of('job began').map(({ fields }) => fields.job_id)).toEqual([long.id]);
  });
});
