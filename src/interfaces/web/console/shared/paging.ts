interface Named {
  readonly id: string;
}

/** Joins a new first page with the items shown before. Returns null if items between the two may be missing. */
export function joinedPages<Item extends Named>(
  first: readonly Item[],
  shown: readonly Item[],
): readonly Item[] | null {
  const last = first.at(-1);
  if (last && shown.length > 0 && !shown.some(({ id }) => id === last.id)) return null;
  const byId = new Map<string, Item>();
  for (const item of [...first, ...shown]) if (!byId.has(item.id)) byId.set(item.id, item);
  return [...byId.values()];
}
