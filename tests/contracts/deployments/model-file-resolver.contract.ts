import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ModelFileResolver } from '../../../src/application/deployments/ports.js';

export interface ResolverRig {
  readonly resolver: ModelFileResolver;
  /** Adds a file to the stored models. */
  put(path: string, content: string): Promise<void>;
}

const { signal } = new AbortController();

export function modelFileResolverContract(name: string, create: () => Promise<ResolverRig>): void {
  describe(`ModelFileResolver ${name}`, () => {
    let rig: ResolverRig;
    let resolver: ModelFileResolver;
    beforeEach(async () => {
      rig = await create();
      resolver = rig.resolver;
    });

    it('brings a file to the disk together with the files that hold parts of it', async () => {
      await rig.put('deep/model.onnx', 'a model');
      await rig.put('deep/model.onnx_data', 'its weights');
      const { path, release } = await resolver.materializeFile('deep/model.onnx', signal);
      expect([readFileSync(path, 'utf8'), readFileSync(`${path}_data`, 'utf8')]).toEqual(['a model', 'its weights']);
      release();
      release();
    });

    it('refuses a file that is missing, empty, of another kind or outside', async () => {
      for (const [path, content] of [
        ['empty.onnx', ''],
        ['model.bin', 'x'],
        ['folder/x', 'x'],
      ])
        await rig.put(path ?? '', content ?? '');
      for (const path of [
        'missing.onnx',
        'empty.onnx',
        'model.bin',
        'folder',
        '../secret.onnx',
        '.hidden.onnx',
        '/etc/x.onnx',
        '',
      ])
        await expect(resolver.materializeFile(path, signal)).rejects.toMatchObject({ code: 'model_file_invalid' });
      await expect(resolver.materializeFile('empty.onnx', signal)).rejects.toThrow('empty');
    });

    it('brings a folder to the disk, with all its files', async () => {
      for (const path of ['chat/config.json', 'chat/onnx/model.onnx', 'chat-too/config.json'])
        await rig.put(path, path);
      const copy = await resolver.materializeFolder('chat', signal);
      expect(readdirSync(copy?.path ?? '').sort()).toEqual(['config.json', 'onnx']);
      expect(readFileSync(join(copy?.path ?? '', 'onnx/model.onnx'), 'utf8')).toBe('chat/onnx/model.onnx');
      expect(existsSync(join(dirname(copy?.path ?? ''), 'chat-too', 'onnx'))).toBe(false);
      copy?.release();
    });

    it('finds folders only', async () => {
      await rig.put('chat/config.json', '{}');
      for (const [path, isFolder] of [
        ['chat', true],
        ['chat/config.json', false],
        ['cha', false],
        ['', false],
      ] as const) {
        const copy = await resolver.materializeFolder(path === '' ? 'missing' : path, signal);
        expect([path, await resolver.hasFolder(path === '' ? 'missing' : path), copy !== null]).toEqual([
          path,
          isFolder,
          isFolder,
        ]);
        copy?.release();
      }
    });

    it('brings the version that is stored now', async () => {
      await rig.put('model.onnx', 'one');
      const first = await resolver.materializeFile('model.onnx', signal);
      expect(readFileSync(first.path, 'utf8')).toBe('one');
      await rig.put('model.onnx', 'other');
      const second = await resolver.materializeFile('model.onnx', signal);
      expect(readFileSync(second.path, 'utf8')).toBe('other');
      for (const { release } of [first, second]) release();
    });
  });
}
