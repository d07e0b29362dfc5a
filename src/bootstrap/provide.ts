import type { ContainerModuleLoadOptions, ServiceIdentifier } from 'inversify';
import type { Port } from '../application/shared/port.js';

type Class<T, Arguments extends unknown[]> = new (...parts: Arguments) => T;
// biome-ignore lint/suspicious/noExplicitAny: a class as a token is told by what it makes, whatever it takes
export type Source<T> = Port<T> | (abstract new (...parts: any[]) => T);

/** Binds one instance of `Made` under `as`; the compiler checks each source against the constructor's parameter. */
export function provide<T, Arguments extends unknown[]>(
  { bind }: Pick<ContainerModuleLoadOptions, 'bind'>,
  as: Source<T>,
  Made: Class<T, Arguments>,
  sources: { [Index in keyof Arguments]: Source<Arguments[Index]> },
): void {
  const make = (...parts: unknown[]) => new Made(...(parts as Arguments));
  bind<T>(as as ServiceIdentifier<T>)
    .toResolvedValue(make, sources as unknown as ServiceIdentifier[])
    .inSingletonScope();
}

/** Binds a value that is made already. */
export function provideValue<T>({ bind }: Pick<ContainerModuleLoadOptions, 'bind'>, as: Source<T>, value: T): void {
  bind<T>(as as ServiceIdentifier<T>).toConstantValue(value);
}
