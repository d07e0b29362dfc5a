import { createHash } from 'node:crypto';
import { emailKey } from '../../../src/domain/accounts/account.js';
import type { Caller } from '../../../src/domain/accounts/caller.js';
import { MailedToken } from '../../../src/domain/accounts/mailed-token.js';
import { retryAt } from '../../../src/domain/accounts/message.js';
import { authorize, permissions } from '../../../src/domain/accounts/permission.js';
import { canonical, canonicalPieces, type Json } from '../../../src/domain/workspace/json.js';
import { canonicalUuid, Model } from '../../../src/domain/workspace/model.js';
import { type AliasChange, ModelAlias } from '../../../src/domain/workspace/model-alias.js';
import { Project } from '../../../src/domain/workspace/project.js';

const at = new Date(Date.UTC(2026, 0, 1));
const later = (milliseconds: number) => new Date(at.getTime() + milliseconds);

describe('a permission', () => {
  const caller = (over: object): Caller =>
    ({
      kind: 'session',
      role: 'admin',
      accountId: 'usr_1',
      teamId: 'tea_1',
      credentialId: 'ses_1',
      operator: true,
      emailVerified: true,
      ...over,
    }) as Caller;

  it.each([
    [null, permissions.chat, 'unauthenticated'],
    [{ kind: 'master' } as Caller, permissions.chat, 'session_required'],
    [caller({ kind: 'api_key' }), permissions.readWorkspace, 'session_required'],
    [caller({ kind: 'api_key', role: 'member' }), permissions.editWorkspace, 'session_required'],
    [caller({ role: 'member' }), permissions.editWorkspace, 'forbidden'],
    [caller({ role: 'member', operator: false }), permissions.readMonitoring, 'operator_only'],
    [caller({ role: 'member', operator: false }), permissions.manageMonitoring, 'operator_only'],
    [caller({ role: 'admin', operator: false, kind: 'api_key' }), permissions.manageMonitoring, 'operator_only'],
    [caller({ role: 'member' }), permissions.manageMonitoring, 'forbidden'],
  ])('refuses in the promised order (%#)', (by, permission, code) => {
    expect(() => authorize(by, permission)).toThrow(expect.objectContaining({ code }));
  });

  it('gives back the account behind a credential that is enough', () => {
    const developer = caller({ role: 'developer' });
    expect(authorize(developer, permissions.editWorkspace)).toBe(developer);
    const key = caller({ kind: 'api_key', role: 'member' });
    expect(authorize(key, permissions.chat)).toBe(key);
    expect(authorize(key, permissions.readMonitoring)).toBe(key);
    const master: Caller = { kind: 'master' };
    expect(authorize(master, permissions.manageMonitoring)).toBe(master);
  });
});

describe('an e-mail key', () => {
  it('is the same for all spellings of an address', () => {
    const spellings = ['ada@example.com', 'ADA@EXAMPLE.COM', ' Ada@Example.com ', '\uFF21da@example.com'];
    expect(new Set(spellings.map(emailKey)).size).toBe(1);
    expect(emailKey('a.da@example.com')).not.toBe(emailKey('ada@example.com'));
  });
});

describe('a verification', () => {
  const verification = MailedToken.issue({
    id: 'ver_1',
    purpose: 'verification',
    accountId: 'usr_1',
    digest: 'd',
    createdAt: at,
  });
  const day = 24 * 60 * 60 * 1000;

  it('can be used once, within 24 hours', () => {
    const used = MailedToken.use(verification, later(day - 1));
    expect(() => MailedToken.use(used, later(day - 1))).toThrow(expect.objectContaining({ code: 'token_used' }));
    expect(() => MailedToken.use(verification, later(day))).toThrow(expect.objectContaining({ code: 'token_expired' }));
  });
});

describe('a delivery that failed', () => {
  it('is tried again later and later, at most every quarter of an hour', () => {
    const seconds = [1, 2, 3, 4, 8, 9, 50].map((failures) => (retryAt(failures, at).getTime() - at.getTime()) / 1000);
    expect(seconds).toEqual([5, 10, 20, 40, 640, 900, 900]);
  });
});

describe('canonical JSON', () => {
  it('is the same whatever the order of keys, and tells values apart', () => {
    expect(canonical({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
      canonical({ a: true, b: [1, { c: 'x', d: null }] }),
    );
    const different: Json[] = [
      { a: 1 },
      { a: '1' },
      { a: [1] },
      { a: null },
      {},
      { b: 1 },
      { a: { a: 1 } },
      { 'a":1,"b': 2 },
    ];
    expect(new Set(different.map((value) => canonical(value))).size).toBe(different.length);
  });

  it('is the same text for ever: what was hashed once has its digest', () => {
    const value: Json = [
      {
        id: 'a',
        n: { '10': 1, '9': [1.5e-7, -0, 1e21], '': {}, ü: '\u2028\u0001"🦆' },
        l: [[], {}, [null, true, false], [[1, { b: 1, a: 2 }]]],
      },
      Array.from({ length: 3000 }, (_, n) => n / 7),
      Array.from({ length: 3000 }, (_, n) => (n % 3 ? {} : { b: n, a: [n, 'x'] }) as Json),
      { big: Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`k${(n * 7919) % 3000}`, n % 2 ? n : [n]])) },
    ];
    expect(createHash('sha256').update(canonical(value)).digest('hex')).toBe(
      'e5fd72e4d7be334bcf044b6c3fbeaef6b99905eb4ca605e02ea1e6ca79797869',
    );
  });

  it.each<[string, Json]>([
    ['empty objects', Array.from({ length: 20_000 }, () => ({}))],
    ['numbers', Array.from({ length: 20_000 }, () => 1)],
    ['lists of one', [Array.from({ length: 20_000 }, () => [1])]],
    ['members', Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, {}]))],
  ])('comes in pieces of many small values: %s', (_, value) => {
    const pieces = [...canonicalPieces(value)];
    expect(pieces.join('')).toBe(canonical(value));
    expect(pieces.length).toBeLessThan(20);
  });
});

describe('a UUID', () => {
  const uuid = '6f1c0a52-3c1e-4a57-9d0e-0f8f2f1f7a11';
  it.each([uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), `{${uuid}}`, `urn:uuid:${uuid}`, ` ${uuid} `])(
    'is read as %s',
    (text) => {
      expect(canonicalUuid(text)).toBe(uuid);
    },
  );
  it.each(['', 'x', uuid.slice(1), `${uuid}0`, `{${uuid}`, uuid.replace('f', 'g')])('is not %s', (text) => {
    expect(canonicalUuid(text)).toBeNull();
  });
});

describe('a project and a model', () => {
  const project = Project.create({ id: 'prj_1', teamId: 'tea_1', createdBy: 'usr_1', createdAt: at });
  const model = Model.draft({
    id: 'mdl_1',
    projectId: 'prj_1',
    requestId: 'x',
    spec: {},
    requestedSpec: '{}',
    createdBy: 'usr_1',
    createdAt: at,
  });

  it('change only by the version last read, said once or twice', () => {
    const next = Project.update(project, [1, 1], { spec: { goal: 'x' }, by: 'usr_2', at: later(1) });
    expect(next).toMatchObject({ version: 2, name: 'Untitled project', spec: { goal: 'x' }, updatedAt: later(1) });
    for (const expected of [[2], [0], [1, 2], [Number.NaN]]) {
      expect(() => Project.update(project, expected, { spec: {}, by: 'usr_2', at })).toThrow(
        expect.objectContaining({ code: 'stale_version' }),
      );
    }
  });

  it('are reviewed only while the reviewed version is the current one', () => {
    const reviewed = { ...project, reviewedVersion: 1 };
    expect(Project.status(reviewed)).toBe('reviewed');
    expect(Project.status(Project.update(reviewed, [1], { spec: {}, by: 'usr_2', at }))).toBe('draft');
  });

  it('are immutable once registered, whatever version is sent', () => {
    const registered = Model.register(model, [1], at);
    expect(registered).toMatchObject({ state: 'registered', version: 1, registeredAt: at });
    for (const version of [1, 2]) {
      const changes = [
        () => Model.register(registered, [version], at),
        () => Model.update(registered, [version], { spec: {}, by: 'usr_2', at }),
        () => Model.requireDraft(registered, [version]),
      ];
      for (const change of changes) expect(change).toThrow(expect.objectContaining({ code: 'model_registered' }));
    }
  });

  it('grow by one version with each update', () => {
    const next = Model.update(model, [1], { spec: { a: 1 }, by: 'usr_2', at: later(1) });
    expect(next).toEqual({ ...model, version: 2, spec: { a: 1 }, updatedBy: 'usr_2', updatedAt: later(1) });
    const stale = () => Model.update(next, [1], { spec: {}, by: 'usr_2', at });
    expect(stale).toThrow(expect.objectContaining({ code: 'stale_version' }));
  });
});

describe('an alias', () => {
  it.each(['champion', 'A', '0', 'v1.2_rc-3', 'x'.repeat(64)])('may be called %s', (name) => {
    expect(ModelAlias.isName(name)).toBe(true);
  });
  it.each(['', '.', '..', '-a', '_a', 'a b', 'a/b', 'a\n', 'ä', 'x'.repeat(65), '__proto__'])(
    'may not be called %j',
    (name) => {
      expect(() => ModelAlias.requireName(name)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    },
  );

  it('changes by versions without gaps, and not at all where it points already', () => {
    const change = (modelId: string | null) => ({
      projectId: 'prj_1',
      alias: 'champion',
      modelId,
      changedBy: 'usr_1',
      changedAt: at,
    });
    const first = ModelAlias.next(undefined, [], change('mdl_1')) as AliasChange;
    expect(first).toEqual({ ...change('mdl_1'), version: 1 });
    expect(ModelAlias.next(first, [1], change('mdl_1'))).toBeNull();
    expect(ModelAlias.next(first, [1, 1], change(null))).toEqual({ ...change(null), version: 2 });
    expect(ModelAlias.next(undefined, [], change(null))).toBeNull();
    for (const [last, expected] of [
      [first, 2],
      [undefined, 1],
    ] as const) {
      const stale = () => ModelAlias.next(last, [expected], change('mdl_2'));
      expect(stale).toThrow(expect.objectContaining({ code: 'stale_version' }));
    }
  });
});
