import { announcerRig, ScriptedNotifier } from '../../support/announcer-rig.js';
import { gate } from '../../support/barrier.js';
import { query } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { anAlert, at } from '../../support/records.js';

const RETRY = { result: 'retry', reason: 'it is busy' } as const;

describe('AlertAnnouncer', () => {
  const rig = announcerRig();
  let notifier: ScriptedNotifier;
  beforeEach(() => {
    notifier = new ScriptedNotifier();
  });

  it('announces alerts once to each receiver, after the commit of their transaction', async () => {
    notifier.wanting = ['r1', 'r2'];
    const { fire, announcer, unitOfWork } = await rig.instance([notifier]);
    const failure = new Error('no');
    const failing = unitOfWork.run(async () => {
      await announcer.fired([anAlert()]);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    const alerts = [anAlert(), anAlert()];
    await fire(...alerts);
    expect(await rig.settled()).toEqual([]);
    const ids = alerts.map(({ id }) => id);
    expect(notifier.attempts.map(({ receiver }) => receiver).sort()).toEqual(['r1', 'r2']);
    for (const attempt of notifier.attempts) expect(attempt).toMatchObject({ event: 'fired', ids });
    expect(announcer.counts).toEqual([{ notifier: 'scripted', result: 'delivered', count: 2 }]);
  });

  it('makes one delivery for each receiver and alert, if the notifier wants them separately', async () => {
    Object.assign(notifier, { separately: true, wanting: ['r1', 'r2'] });
    const { fire } = await rig.instance([notifier]);
    const alerts = [anAlert(), anAlert(), anAlert()];
    await fire(...alerts);
    expect(await rig.settled()).toEqual([]);
    const made = notifier.attempts.map(({ receiver, ids }) => `${receiver} ${ids}`).sort();
    expect(made).toEqual(['r1', 'r2'].flatMap((receiver) => alerts.map(({ id }) => `${receiver} ${id}`)).sort());
  });

  it('announces acknowledgements only to a notifier that wants them, and the alerts as they are now', async () => {
    const other = new ScriptedNotifier('other');
    other.events = ['fired', 'acknowledged'];
    const { announcer, alerts } = await rig.instance([notifier, other]);
    const alert = anAlert();
    await alerts.add([alert]);
    await alerts.acknowledge(alert.id, { at: at(9), by: 'usr_1', note: 'seen' });
    await announcer.acknowledged(alert);
    expect(await rig.settled()).toEqual([]);
    expect(notifier.attempts).toEqual([]);
    expect(other.attempts).toMatchObject([{ event: 'acknowledged', alerts: [{ id: alert.id, note: 'seen' }] }]);
  });

  it.each([
    ['says that another attempt can help', async () => RETRY],
    ['throws', () => Promise.reject(new Error('it is busy'))],
  ])('tries again if the notifier %s, and logs once when it gives up', async (_, outcome) => {
    notifier.outcome = outcome;
    const { fire, log, announcer } = await rig.instance([notifier]);
    const alert = anAlert();
    await fire(alert);
    const pauses = [await rig.skip(), await rig.skip()];
    expect(pauses.map(Math.round)).toEqual([3, 7]);
    expect(await rig.settled()).toEqual([]);
    expect(notifier.attempts).toHaveLength(3);
    const fields = { notifier: 'scripted', receivers: ['r1'], alert_ids: [alert.id], reason: 'scripted: it is busy' };
    expect(log.of('alerts given up')).toMatchObject([{ level: 'error', fields }]);
    expect(announcer.counts).toMatchObject([
      { result: 'retry', count: 3 },
      { result: 'failed', count: 1 },
    ]);
  });

  it('waits as long as the receiver wants, but otherwise never longer than the notifier says', async () => {
    notifier.retries = { attempts: 3, longestPauseMs: 5_000 };
    notifier.outcome = () => (notifier.attempts.length === 1 ? { ...RETRY, pauseMs: 40_000 } : RETRY);
    const { fire } = await rig.instance([notifier]);
    await fire(anAlert());
    for (const seconds of [40, 5]) {
      await eventually(async () => `${(await rig.waiting()).map(Math.round)}` === `${seconds}`);
      await rig.skip();
    }
    expect(notifier.attempts).toHaveLength(3);
  });

  it('makes one attempt if the notifier says that no other one can help, and logs this once', async () => {
    notifier.outcome = () => ({ result: 'failed', reason: 'answered with status 400' });
    const { fire, log, announcer } = await rig.instance([notifier]);
    await fire(anAlert());
    expect(await rig.settled()).toEqual([]);
    expect(notifier.attempts).toHaveLength(1);
    expect(log.of('alerts given up')).toMatchObject([{ fields: { reason: 'answered with status 400' } }]);
    expect(announcer.counts).toMatchObject([{ result: 'failed', count: 1 }]);
  });

  it('ends the tasks of a notifier that was switched off, and of a receiver that wants no more alerts', async () => {
    const off = new ScriptedNotifier('off');
    for (const one of [notifier, off]) one.outcome = () => RETRY;
    const before = await rig.instance([notifier, off]);
    await before.fire(anAlert());
    expect(await rig.settled()).toHaveLength(2);
    await before.stop();
    notifier.wanting = ['r2'];
    const { log } = await rig.instance([notifier]);
    await rig.skip();
    expect(await rig.settled()).toEqual([]);
    expect([notifier.attempts.length, off.attempts.length]).toEqual([1, 1]);
    expect(log.lines).toEqual([]);
  });

  it('delivers to one receiver one after another, and a receiver that hangs delays no other receiver', async () => {
    const { opened, open } = gate();
    notifier.outcome = async () => {
      await opened;
      return { result: 'delivered' };
    };
    const other = new ScriptedNotifier('other');
    const [one] = await Promise.all([rig.instance([notifier, other]), rig.instance([notifier, other])]);
    for (let nth = 0; nth < 10; nth++) await one.fire(anAlert());
    await eventually(() => other.attempts.length === 10);
    expect(notifier.attempts).toHaveLength(1);
    open();
    await eventually(() => notifier.attempts.length === 10);
    await rig.settled();
  });

  it('ends a delivery that takes too long, and tries again', async () => {
    notifier.outcome = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { announcer, fire } = await rig.instance([notifier]);
    Object.assign(announcer, { deliveryMs: 50 });
    await fire(anAlert());
    expect(await rig.settled()).toHaveLength(1);
    expect(announcer.counts).toMatchObject([{ result: 'retry', count: 1 }]);
  });

  it('aborts a delivery when its instance stops, and another instance makes it', async () => {
    notifier.outcome = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { fire, stop } = await rig.instance([notifier]);
    await fire(anAlert());
    await eventually(() => notifier.attempts.length === 1);
    await stop();
    notifier.outcome = () => ({ result: 'delivered' });
    await rig.instance([notifier]);
    await eventually(() => notifier.attempts.length === 2);
    expect(await rig.settled()).toEqual([]);
  });

  it('repeats the alerts that fire, as one task of all instances, and without retries', async () => {
    notifier.events = ['fired', 'repeated'];
    const { announcer, alerts, log } = await rig.instance([notifier, new ScriptedNotifier('other')]);
    await query(rig.url, 'DELETE FROM alerts');
    await announcer.repeat();
    expect(await rig.settled()).toEqual([]);
    expect(notifier.attempts).toEqual([]);
    const [first, second, ended] = [anAlert(), anAlert(), anAlert()];
    await alerts.add([first, second, ended]);
    await alerts.acknowledge(ended.id, { at: at(9), by: 'usr_1', note: null });
    const { opened, open } = gate();
    notifier.outcome = async () => {
      await opened;
      return RETRY;
    };
    for (let nth = 0; nth < 3; nth++) await announcer.repeat();
    await eventually(() => notifier.attempts.length === 1);
    await announcer.repeat();
    open();
    expect(await rig.settled()).toEqual([]);
    expect(notifier.attempts).toMatchObject([{ event: 'repeated', ids: [second.id, first.id] }]);
    expect(log.of('alerts not repeated')).toHaveLength(1);
    expect(log.of('alerts given up')).toEqual([]);
  });
});
