import { MemoryProcesses } from '../../fakes/jobs/memory-instance-registry.js';
import { imaginedProcess } from '../../support/imagined-process.js';

describe('what a process of the service may take', () => {
  const known = new MemoryProcesses();
  const [one, two] = [imaginedProcess(known), imaginedProcess(known)];
  const named = (name: string) => ({ name, url: 'http://10.0.0.1:8080' });
  let [first, second] = [0, 0];

  beforeAll(async () => {
    await one.processes.introduce(named('one'));
    await two.processes.introduce(named('two'));
    [first, second] = [await one.ownership.own(), await two.ownership.own()];
  });

  it("is nobody's, and never a living one's", async () => {
    expect(await two.ownership.free([null, first, second])).toEqual(new Set([null]));
  });

  it('is what one had that has been missing for a while, each time it was looked for', async () => {
    await one.processes.leave();
    expect(await two.ownership.free([first])).toEqual(new Set([null]));
    two.clock.advance(4_000);
    expect(await two.ownership.free([first])).toEqual(new Set([null]));
    await one.processes.renew();
    two.clock.advance(4_000);
    expect(await two.ownership.free([first])).toEqual(new Set([null]));
    await one.processes.leave();
    await two.ownership.free([first]);
    two.clock.advance(5_000);
    expect(await two.ownership.free([first, null])).toEqual(new Set([null, first]));
  });

  it('is at once what one of its own name had', async () => {
    const again = imaginedProcess(known);
    expect(await again.ownership.free([first])).toEqual(new Set([null]));
    await again.processes.introduce(named('one'));
    expect(await again.ownership.free([first, second])).toEqual(new Set([null, first]));
  });

  it('is refused by the name of the one whose it is', async () => {
    const { code, message } = await one.ownership.elsewhere(second);
    expect({ code, message }).toMatchObject({
      code: 'runtime_unavailable',
      message: expect.stringContaining('process two'),
    });
    expect(await one.ownership.nameOf(null)).toBeNull();
    expect(await one.ownership.nameOf(77)).toBe('number 77');
  });
});
