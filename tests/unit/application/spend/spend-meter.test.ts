import { SpendMeter } from '../../../../src/application/spend/spend-meter.js';

describe('SpendMeter', () => {
  const ended = (projectId: string | null, modelId: string | null, cost: string | null) => ({
    projectId,
    modelId,
    cost,
  });

  it('adds up costs exactly, by project and model, and leaves out calls that cost nothing', () => {
    const meter = new SpendMeter();
    for (let call = 0; call < 10; call++) meter.ended(ended('prj_1', 'mdl_1', '0.100000001'));
    meter.ended(ended('prj_1', 'mdl_2', null));
    meter.ended(ended('prj_1', 'mdl_2', '0.000000000'));
    meter.ended(ended(null, null, '2.000000000'));
    expect(meter.costs).toEqual([
      { project: 'prj_1', model: 'mdl_1', cost: 1_000_000_010n },
      { project: 'none', model: 'none', cost: 2_000_000_000n },
    ]);
  });

  it('counts at most 500 pairs by themselves, and all others as one', () => {
    const meter = new SpendMeter();
    for (let n = 0; n < 700; n++) meter.ended(ended(`prj_${n}`, 'mdl', '1.000000000'));
    meter.ended(ended('prj_0', 'mdl', '1.000000000'));
    expect(meter.costs).toHaveLength(501);
    expect(meter.costs[0]?.cost).toBe(2_000_000_000n);
    expect(meter.costs.at(-1)).toEqual({ project: 'other', model: 'other', cost: 200_000_000_000n });
  });

  it('counts refused calls by the scope of the budget', () => {
    const meter = new SpendMeter();
    meter.refusedBy('key');
    meter.refusedBy('key');
    expect(meter.refusals).toEqual([
      { scope: 'team', count: 0 },
      { scope: 'project', count: 0 },
      { scope: 'account', count: 0 },
      { scope: 'key', count: 2 },
    ]);
  });
});
