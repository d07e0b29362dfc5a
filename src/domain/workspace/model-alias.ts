import { InvalidRequest } from '../shared/errors.js';
import { requireVersion } from './project.js';

/** A change of an alias. The last change names the model that the alias points to. */
export interface AliasChange {
  readonly projectId: string;
  readonly alias: string;
  /** Starts at 1 and has no gaps. */
  readonly version: number;
  /** The model that the alias names since this change. Null: this change deleted the alias. */
  readonly modelId: string | null;
  readonly changedBy: string;
  readonly changedAt: Date;
}

/** The last change of an alias that points to a model. */
export interface LivingAlias extends AliasChange {
  readonly modelId: string;
}

const MOST = 100;

/** A movable name for a registered model of a project, such as `champion`. */
export const ModelAlias = {
  NAME: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,

  /** Callers see at most this many changes of an alias. */
  HISTORY: 100,

  isName: (text: string): boolean => ModelAlias.NAME.test(text),

  /** Throws InvalidRequest. */
  requireName(text: string): void {
    const message = 'must have 1 to 64 characters of A-Z a-z 0-9 . _ - and begin with a letter or a digit';
    if (!ModelAlias.isName(text)) throw new InvalidRequest([{ path: 'alias', message }]);
  },

  /** Throws InvalidRequest if the alias is new and its project already has the maximum number of aliases. */
  requireRoom(living: readonly LivingAlias[], alias: string): void {
    const message = `a project has at most ${MOST} aliases: delete one of them first`;
    if (living.length < MOST || living.some((one) => one.alias === alias)) return;
    throw new InvalidRequest([{ path: 'alias', message }]);
  },

  /** Returns the change after `last`, or null if it would change nothing. Throws StaleVersion. */
  next(
    last: AliasChange | undefined,
    expected: readonly number[],
    change: Omit<AliasChange, 'version'>,
  ): AliasChange | null {
    const version = last?.version ?? 0;
    requireVersion({ version }, expected);
    return change.modelId === (last?.modelId ?? null) ? null : { ...change, version: version + 1 };
  },
};
