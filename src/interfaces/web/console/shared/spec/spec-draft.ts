import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ApiError } from '../api.js';
import { useDraft } from '../draft.js';
import { type Action, useAction } from '../form.js';
import { type JsonSource, readJson, writeJson } from '../json-source.js';
import { guardLeaving } from '../router.js';
import { asSpec, isObject } from './fields.js';

/** A project or a model at one version. A model has no name. */
export interface Saved {
  readonly version: number;
  readonly name?: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface Content {
  readonly name: string;
  readonly text: string;
}

interface Draft extends Content {
  /** The saved version that the user began to change. */
  readonly base: Content & { readonly version: number };
  /** The user's text that was set aside to show another version. */
  readonly aside?: Content;
}

export interface SpecDraft extends Content {
  readonly saved: Content & { readonly version: number };
  readonly base: Content & { readonly version: number };
  readonly aside: Content | null;
  readonly source: JsonSource;
  readonly changed: boolean;
  /** True if the text is changed and a newer version than `base` was saved meanwhile. */
  readonly stale: boolean;
  /** Saves the text as the next version after `version`: the one of `base`, or the one of `saved` to overwrite it. */
  readonly saving: Action<[version: number]>;
  readonly change: (content: Partial<Content>) => void;
  /** Shows the saved version and sets the user's text aside. */
  readonly setAside: () => void;
  readonly bringBack: () => void;
  /** Forgets the text that is set aside. */
  readonly forget: () => void;
}

export const contentOf = ({ name = '', spec }: Pick<Saved, 'name' | 'spec'>): Content => ({
  name,
  text: writeJson(spec),
});

/** Returns a text with the name and the spec, to compare versions. */
export const writtenOut = ({ name, text }: Content): string => (name ? `name: ${name}\n${text}` : text);

/**
 * Edits the spec of a project or a model. Keeps unsaved text by `key`. `save` sends the text as the next version after
 * `version`. `reload` reads the saved version when `version` is stale.
 */
export function useSpecDraft(props: {
  key: string;
  now: Saved;
  save: (version: number, content: { name: string; spec: ReturnType<typeof asSpec> }) => Promise<Saved>;
  reload: () => Promise<unknown>;
}): SpecDraft {
  const { key, now, save, reload } = props;
  const [draft, keep] = useDraft<Draft>(key);
  const saved = useMemo(() => ({ ...contentOf(now), version: now.version }), [now]);
  const content = draft ?? saved;
  const { name, text } = content;
  const source = useMemo(() => readJson(text), [text]);
  const changed = name !== saved.name || text !== saved.text;
  const base = draft && changed ? draft.base : saved;
  const latest = useRef(content);
  latest.current = content;

  const change = (part: Partial<Content>) => {
    const next = { ...latest.current, ...part };
    const same = next.name === base.name && next.text === base.text;
    keep(same && !draft?.aside ? null : { ...draft, name: next.name, text: next.text, base });
  };
  const send = async (version: number) => {
    const sent = latest.current;
    if (source.problem) throw new ApiError(0, 'invalid', 'The spec is no valid JSON yet.');
    if (!isObject(source.value)) throw new ApiError(0, 'invalid', 'A spec is a JSON object, which begins with {.');
    try {
      const next = await save(version, { name: sent.name, spec: asSpec(source.value) });
      const base = { ...contentOf(next), version: next.version };
      keep((now) => {
        const { name, text } = now ?? saved;
        const typedMeanwhile = name !== sent.name || text !== sent.text;
        const content = typedMeanwhile ? { name, text } : base;
        return typedMeanwhile || now?.aside ? { ...now, name: content.name, text: content.text, base } : null;
      });
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.currentVersion === null) throw reason;
      keep((now) => ({ ...(now ?? { name: sent.name, text: sent.text }), base }));
      void reload();
    }
  };
  const saving = useAction(send);

  useEffect(() => {
    // Leaving keeps the draft. Only closing the tab loses it, so the browser asks then.
    guardLeaving(changed ? () => true : null);
    return () => guardLeaving(null);
  }, [changed]);

  return {
    name,
    text,
    saved,
    base,
    aside: draft?.aside ?? null,
    source,
    changed,
    stale: changed && base.version < saved.version,
    saving,
    change,
    setAside: () => {
      saving.clear();
      keep({ ...saved, base: saved, aside: { name, text } });
    },
    bringBack: () => draft?.aside && keep({ ...draft.aside, base: saved }),
    forget: () => keep(changed ? { name, text, base } : null),
  };
}
