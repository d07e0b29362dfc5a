import type { Page, SizedItem, VersionPage } from '../../../src/application/shared/ports.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { race } from '../../support/barrier.js';
import { ids } from '../../support/records.js';
import { expectPages, type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

interface Versioned {
  readonly id: string;
  readonly version: number;
  readonly updatedBy: string;
  readonly updatedAt: Date;
}

interface Version {
  readonly version: number;
}

/** The repository of projects, models or datasets, as this suite uses it. */
export interface VersionedRepository<Entity extends Versioned> {
  /** Adds an entity of the first owner, or of the other one. */
  add(over?: Partial<Entity>, toOther?: boolean): Promise<Entity>;
  /** Adds an entity that contains this JSON. */
  addWith(json: JsonObject): Promise<Entity>;
  /** Returns the JSON from each place that stores it. */
  jsonOf(entity: Entity): Promise<readonly unknown[]>;
  /** Values that a store could easily change by mistake. */
  readonly odd: Partial<Entity>;
  find(entity: Entity, ofOther?: boolean): Promise<Entity | null>;
  all(page: Page, ofOther?: boolean): Promise<Entity[]>;
  /** Present for entities with a spec. */
  readonly sizes?: (page: Page) => Promise<SizedItem[]>;
  next(current: Entity, by: string): Entity;
  /** Returns the same version in its next state. Is present for entities that have a state. */
  readonly settled?: (current: Entity) => Entity;
  replace(current: Entity, next: Entity): Promise<boolean>;
  remove(current: Entity): Promise<boolean>;
  versions(id: string, page: VersionPage): Promise<Version[]>;
  version(id: string, version: number): Promise<Version | null>;
  versionOf(entity: Entity): Version;
  /** Returns the version as a list shows it. */
  entryOf(version: Version): Version;
}

const parsed = (text: string) => JSON.parse(text) as JsonObject;

/** JSON that a store could easily change by mistake. */
const objects: Readonly<Record<string, JsonObject>> = {
  'an empty object': {},
  'keys in their order, also those that look like numbers': parsed('{"b":1,"a":2,"10":3,"9":4,"":5}'),
  'null, false, 0 and empty values': { a: null, b: false, c: 0, d: '', e: [], f: {}, g: [null, [], {}] },
  'numbers to the last digit': { a: 0.1, b: 1e300, c: 5e-324, d: 9007199254740991, e: -1.5, f: 1e21 },
  'text of any kind': { text: 'Grüße 王秀英 🦆 \u2028 "\\ \' \b\t\n $1 :name %s' },
  'names of JavaScript': parsed('{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":3}'),
  depth: parsed(`${'{"a":['.repeat(15)}1${']}'.repeat(15)}`),
  length: { text: 'x'.repeat(200_000) },
};

const all = { limit: 100, before: null };

/** Tests the promises that the repositories of projects, models and datasets share. */
export function versionsContract<Entity extends Versioned>(
  name: string,
  store: StoreUnderTest,
  repositoryIn: (stock: StockedStore) => VersionedRepository<Entity> | Promise<VersionedRepository<Entity>>,
) {
  describe(`${name}, with their versions`, () => {
    let repository: VersionedRepository<Entity>;
    beforeEach(async () => {
      repository = await repositoryIn(await stocked(store));
    });

    it('are found exactly as they were added, by their owner only', async () => {
      for (const entity of [await repository.add(), await repository.add(repository.odd)]) {
        expect(await repository.find(entity)).toEqual(entity);
        expect(await repository.find(entity, true)).toBeNull();
        expect(await repository.find({ ...entity, id: `${entity.id}x` })).toBeNull();
      }
    });

    it('store JSON without any change', async () => {
      for (const [name, json] of Object.entries(objects)) {
        const found = await repository.jsonOf(await repository.addWith(json));
        const texts = found.map((one) => [name, JSON.stringify(one)]);
        expect(texts).toEqual(found.map(() => [name, JSON.stringify(json)]));
      }
    });

    it('are listed by their owner, newest first, in pages', async () => {
      const [first, second, third] = [await repository.add(), await repository.add(), await repository.add()];
      const other = await repository.add({}, true);
      await expectPages((page) => repository.all(page), [third, second, first], repository.sizes);
      await expectPages((page) => repository.all(page, true), [other]);
    });

    it('are replaced only if version and state are current', async () => {
      const [first, other] = [await repository.add(), await repository.add()];
      const second = repository.next(first, 'usr_2');
      expect(await repository.replace(second, repository.next(second, 'usr_3'))).toBe(false);
      expect(await repository.replace(first, second)).toBe(true);
      expect(await repository.replace(first, repository.next(first, 'usr_3'))).toBe(false);
      expect(await repository.find(first)).toEqual(second);
      if (repository.settled) {
        const settled = repository.settled(second);
        expect(await repository.replace(second, settled)).toBe(true);
        expect(await repository.replace(second, repository.next(second, 'usr_3'))).toBe(false);
        expect(await repository.find(first)).toEqual(settled);
      }
      expect(await repository.versions(first.id, all)).toHaveLength(2);
      expect(await repository.find(other)).toEqual(other);
    });

    it('keep each version as it was, with its author and time', async () => {
      const [first, other] = [await repository.add(), await repository.add()];
      const second = repository.next(first, 'usr_2');
      const third = repository.next(second, 'usr_3');
      await repository.replace(first, second);
      await repository.replace(second, third);
      if (repository.settled) await repository.replace(third, repository.settled(third));
      const history = [third, second, first];
      for (const { id, version, updatedBy, updatedAt, ...entity } of history) {
        const found = await repository.version(id, version);
        expect(found).toEqual(repository.versionOf({ id, version, updatedBy, updatedAt, ...entity } as Entity));
        expect(found).toMatchObject({ version, createdBy: updatedBy, createdAt: updatedAt });
      }
      const entries = history.map((one) => repository.entryOf(repository.versionOf(one)));
      expect(await repository.versions(first.id, all)).toEqual(entries);
      expect(await repository.versions(first.id, { limit: 2, before: null })).toEqual(entries.slice(0, 2));
      expect(await repository.versions(first.id, { limit: 1, before: 3 })).toEqual(entries.slice(1, 2));
      expect(await repository.versions(first.id, { limit: 9, before: 1 })).toEqual([]);
      expect(await repository.version(first.id, 4)).toBeNull();
      expect(await repository.version(ids.next('prj'), 1)).toBeNull();
      expect(await repository.versions(other.id, all)).toHaveLength(1);
    });

    it('are removed with their versions, only if version and state are current', async () => {
      const [first, other, settled] = [await repository.add(), await repository.add(), await repository.add()];
      const second = repository.next(first, 'usr_2');
      await repository.replace(first, second);
      expect(await repository.remove(first)).toBe(false);
      expect(await repository.find(first)).toEqual(second);
      expect(await repository.remove(second)).toBe(true);
      expect(await repository.remove(second)).toBe(false);
      expect(await repository.find(first)).toBeNull();
      expect(await repository.versions(first.id, all)).toEqual([]);
      expect(await repository.version(first.id, 1)).toBeNull();
      expect(await repository.find(other)).toEqual(other);
      expect(await repository.versions(other.id, all)).toHaveLength(1);
      if (!repository.settled) return;
      await repository.replace(settled, repository.settled(settled));
      expect(await repository.remove(settled)).toBe(false);
      expect(await repository.find(settled)).toEqual(repository.settled(settled));
    });

    it.each([1, 2, 3])('let exactly one of several concurrent changes win (%i kinds of change)', async (kinds) => {
      const added = await repository.add();
      const read = async () => (await repository.find(added)) as Entity;
      const settled = repository.settled ?? ((current: Entity) => repository.next(current, 'usr_x'));
      const change = (current: Entity, party: number) => {
        if (party % kinds === 0) return repository.replace(current, repository.next(current, `usr_${party}`));
        if (party % kinds === 1) return repository.remove(current);
        return repository.replace(current, settled(current));
      };
      const outcomes = await race(9, read, change);
      const winner = outcomes.indexOf(true);
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const now = await repository.find(added);
      expect(await repository.versions(added.id, all)).toHaveLength(now?.version ?? 0);
      if (winner % kinds === 0) expect(now?.updatedBy).toBe(`usr_${winner}`);
    });
  });
}
