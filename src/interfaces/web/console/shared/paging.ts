interface Named {
  readonly id: string;
}

/**
 * Joins a new answer of the first page with the items that were shown before. Returns null if items between the two may
 * be missing.
 */
export function joinedPages<Item extends Named>(
  first: readonly Item[],
  shown: readonly Item[],
): readonly Item[] | null {
  const last = first.at(-1);
  if (last && shown.length > 0 && !shown.some(({ id }) => id === last.id)) return null;
  const ids = new Set<string>();
  return [...first, ...shown].filter(({ id }) => !ids.has(id) && ids.add(id));
}
