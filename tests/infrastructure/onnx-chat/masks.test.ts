import { MessageChannel } from 'node:worker_threads';
import {
  Constraint,
  maskMemory,
  NoMask,
  writeFailure,
  writeMask,
} from '../../../src/infrastructure/onnx-chat/worker/grammar/mask.js';

const mask = Int32Array.of(0b1010, -1);

describe('the masks of a sequence', () => {
  const { port1, port2 } = new MessageChannel();
  afterAll(() => port1.close());

  it('are late until they are written, token by token', async () => {
    const memory = maskMemory(40);
    const constraint = new Constraint(memory, port2);
    const late = constraint.late();
    expect(() => constraint.allowed()).toThrow(NoMask);
    writeMask(memory, mask);
    await late;
    expect(constraint.late()).toBeNull();
    expect([...constraint.allowed()]).toEqual([...mask]);
    constraint.accept(3);
    expect(constraint.late()).not.toBeNull();
    expect(() => constraint.allowed()).toThrow(NoMask);
    writeMask(memory, mask);
    expect(constraint.late()).toBeNull();
  });

  it('fail when all waits of a sequence together exceed one time limit', async () => {
    await expect(new Constraint(maskMemory(40), port2, 1).late()).rejects.toThrow(NoMask);
    const memory = maskMemory(40);
    const clock = jest.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(10_000);
    const constraint = new Constraint(memory, port2);
    const first = constraint.late();
    writeMask(memory, mask);
    await first;
    clock.mockRestore();
    constraint.accept(3);
    await expect(constraint.late()).rejects.toThrow(NoMask);
  });

  it('do not come after their thread has failed', async () => {
    const memory = maskMemory(40);
    const constraint = new Constraint(memory, port2);
    const late = constraint.late();
    writeFailure(memory);
    await late;
    expect(constraint.late()).toBeNull();
    expect(() => constraint.allowed()).toThrow(NoMask);
    writeMask(memory, mask);
    expect(() => constraint.allowed()).toThrow(NoMask);
  });
});
