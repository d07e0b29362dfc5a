import type { ContainerModuleLoadOptions, ServiceIdentifier } from 'inversify';
import type { Port } from '../application/shared/port.js';

type Class<T, Arguments extends unknown[]> = new (...parts: Arguments) => T;
// biome-ignore lint/suspicious/noExplicitAny: a class as a token is told by what it makes, whatever it takes
export type Source<T> = Port<T> | (abstract new (...parts: any[]) => T);

type Sources<Arguments extends unknown[]> = { [Index in keyof Arguments]: Source<Arguments[Index]> };
type Module = Pick<ContainerModuleLoadOptions, 'bind'>;

/** Binds one instance of `Made` under `as`; the compiler checks each source against the constructor's parameter. */
export function provide<T, Arguments extends unknown[]>(
  module: Module,
  as: Source<T>,
  Made: Class<T, Arguments>,
  sources: Sources<Arguments>,
): void {
  provideMade(module, as, (...parts: Arguments) => new Made(...parts), sources);
}

/** The same with a function. */
export function provideMade<T, Arguments extends unknown[]>(
  { bind }: Module,
  as: Source<T>,
  make: (...parts: Arguments) => T,
  sources: Sources<Arguments>,
): void {
  const made = make as (...parts: unknown[]) => T;
  bind<T>(as as ServiceIdentifier<T>)
    .toResolvedValue(made, sources as unknown as ServiceIdentifier[])
    .inSingletonScope();
}

/** Binds a value that is made already. */
export function provideValue<T>({ bind }: Module, as: Source<T>, value: T): void {
  bind<T>(as as ServiceIdentifier<T>).toConstantValue(value);
}
