import type { AuditFilter } from '../../../src/application/audit/ports.js';
import type { Page } from '../../../src/application/shared/ports.js';
import type { AuditEntry } from '../../../src/domain/audit/audit-entry.js';
import { anAuditEntry, at, ids } from '../../support/records.js';
import { expectPages, type Repositories, type StoreUnderTest } from '../../support/repositories.js';

const anything: AuditFilter = { team: null, actor: null, action: null, objectId: null, from: null, to: null };

export function auditTrailContract(adapter: string, store: StoreUnderTest) {
  describe(`AuditTrail in ${adapter}`, () => {
    let here: Repositories;
    let elsewhere: Repositories;

    beforeEach(async () => {
      here = await store.open();
      elsewhere = await store.elsewhere();
    });

    const add = (over: Partial<AuditEntry> = {}): Promise<AuditEntry> =>
      here.unitOfWork.run(async () => {
        const entry = anAuditEntry(over);
        await here.auditTrail.append(entry);
        return entry;
      });
    const found = (filter: Partial<AuditFilter>, page: Page = { limit: 100, after: null }) =>
      elsewhere.auditTrail.list({ ...anything, ...filter }, page);

    it('returns entries exactly as they were appended, newest first, in pages', async () => {
      const rich = await add({
        actor: { kind: 'account', id: 'usr_1', name: '"\u{1F986}"\n', credentialId: 'ses_1' },
        objectName: 'Ünïcode',
        details: { version: 2, flag: true, nothing: null, text: '{}' },
      });
      const plain = await add({ objectName: null, requestId: null, teamId: null, details: {} });
      const last = await add();
      await expectPages((page) => found({}, page), [last, plain, rich]);
      await add({ details: { role: 'admin', invite_id: undefined } });
      expect((await found({}))[0]?.details).toStrictEqual({ role: 'admin' });
    });

    it('appends an entry only in the unit of work of its act', async () => {
      await expect(here.auditTrail.append(anAuditEntry())).rejects.toThrow('unit of work');
      const failing = here.unitOfWork.run(async () => {
        await here.auditTrail.append(anAuditEntry());
        throw new Error('the act failed');
      });
      await expect(failing).rejects.toThrow('the act failed');
      expect(await found({})).toEqual([]);
    });

    it('finds entries by a part of the name of the actor or the object, in either case', async () => {
      const by = (name: string | null) => ({ kind: 'account', id: 'usr_1', name, credentialId: null }) as const;
      const anna = await add({ actor: by('Änna Müller'), objectName: null, action: 'account.changed' });
      const object = await add({ actor: by(null), objectName: 'MÜLLER the project', action: 'project.deleted' });
      await add({ actor: by('Ben'), objectName: 'capitals' });
      expect(await found({ q: 'müller' })).toEqual([object, anna]);
      expect(await found({ q: 'änna' })).toEqual([anna]);
      expect(await found({ q: 'müller', action: 'project' })).toEqual([object]);
      expect(await found({ q: 'müller', to: at(0) })).toEqual([]);
      await expectPages((page) => found({ q: 'ller' }, page), [object, anna]);
    });

    it('finds the entries of a team, and for operators also entries of no team', async () => {
      const [own, others, nobodys] = [
        await add({ teamId: 'tea_own' }),
        await add({ teamId: 'tea_other' }),
        await add({ teamId: null }),
      ];
      expect(await found({ team: { id: 'tea_own', operator: false } })).toEqual([own]);
      expect(await found({ team: { id: 'tea_own', operator: true } })).toEqual([nobodys, own]);
      expect(await found({ team: null })).toEqual([nobodys, others, own]);
    });

    it('finds the entries of an actor, by id or by kind', async () => {
      const actor = { kind: 'account', id: ids.next('usr'), name: 'Ada', credentialId: null } as const;
      const own = await add({ actor });
      const someone = await add({ actor: { ...actor, id: ids.next('usr') } });
      const master = await add({ actor: { kind: 'master_key', id: null, name: null, credentialId: null } });
      expect(await found({ actor: { id: actor.id } })).toEqual([own]);
      expect(await found({ actor: { kind: 'account' } })).toEqual([someone, own]);
      expect(await found({ actor: { kind: 'master_key' } })).toEqual([master]);
      expect(await found({ actor: { kind: 'command_line' } })).toEqual([]);
    });

    it('finds entries by action, by kind of object and by object', async () => {
      const objectId = ids.next('mdl');
      const registered = await add({ action: 'model.registered', objectId });
      const deleted = await add({ action: 'model.deleted', objectId });
      const moved = await add({ action: 'model_alias.moved' });
      expect(await found({ action: 'model.registered' })).toEqual([registered]);
      expect(await found({ action: 'model' })).toEqual([deleted, registered]);
      expect(await found({ action: 'model_alias' })).toEqual([moved]);
      expect(await found({ objectId })).toEqual([deleted, registered]);
      expect(await found({ objectId, action: 'model.deleted' })).toEqual([deleted]);
    });

    it('finds entries from a time on and before a time', async () => {
      const [first, second, third] = [
        await add({ createdAt: at(1) }),
        await add({ createdAt: at(2) }),
        await add({ createdAt: at(3) }),
      ];
      expect(await found({ from: at(2) })).toEqual([third, second]);
      expect(await found({ to: at(2) })).toEqual([first]);
      expect(await found({ from: at(2), to: at(3) })).toEqual([second]);
    });
  });
}
