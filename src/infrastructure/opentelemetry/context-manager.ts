import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncValue } from '../system/async-value.js';

/** Keeps the context of the running code beside the service's own values. That of the SDK would slow every promise down. */
export class AsyncContextManager implements ContextManager {
  private readonly context = new AsyncValue<Context>();

  active(): Context {
    return this.context.current ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...given: A) => ReturnType<F>>(
    context: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...given: A
  ): ReturnType<F> {
    return this.context.run(context, () => work.apply(self, given));
  }

  bind<T>(context: Context, target: T): T {
    if (typeof target !== 'function') return target;
    return ((...given: unknown[]) => this.with(context, () => target(...given))) as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}
