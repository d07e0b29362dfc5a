/** What a path has at the places of a template's parameters, decoded; of a rest, its parts. */
export type PathParameters = Readonly<Record<string, string | readonly string[]>>;

interface Leaf<T> {
  readonly value: T;
  readonly names: readonly string[];
}

/**
 * Finds what stands at a path in as many steps as the path has parts, however many paths there are. `{name}` is any one
 * part, and `{name*}`, the last, any number of them; at each place a word of a path wins over a parameter.
 */
export class RouteTree<T> {
  private readonly words = new Map<string, RouteTree<T>>();
  private parameter: RouteTree<T> | null = null;
  private leaf: Leaf<T> | null = null;
  private rest: Leaf<T> | null = null;

  add(template: string, value: T): void {
    const names = [...template.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name as string);
    let tree: RouteTree<T> = this;
    for (const part of template.split('/')) {
      if (part.endsWith('*}')) {
        tree.rest = { value, names };
        return;
      }
      tree = tree.below(part);
    }
    tree.leaf = { value, names };
  }

  /** Null where nothing stands. Throws URIError for a parameter that cannot be decoded. */
  find(path: string): { readonly value: T; readonly params: PathParameters } | null {
    const taken: (string | readonly string[])[] = [];
    const leaf = this.seek(path.split('/'), 0, taken);
    if (!leaf) return null;
    const params = leaf.names.map((name, index) => [name, decoded(taken[index] ?? '')] as const);
    return { value: leaf.value, params: Object.fromEntries(params) };
  }

  private below(part: string): RouteTree<T> {
    if (part.startsWith('{')) {
      this.parameter ??= new RouteTree();
      return this.parameter;
    }
    const known = this.words.get(part) ?? new RouteTree<T>();
    this.words.set(part, known);
    return known;
  }

  private seek(parts: readonly string[], at: number, taken: (string | readonly string[])[]): Leaf<T> | null {
    const part = parts[at];
    if (part === undefined) return this.leaf;
    const found = this.words.get(part)?.seek(parts, at + 1, taken);
    if (found) return found;
    const before = taken.length;
    if (this.parameter && part !== '') {
      taken.push(part);
      const within = this.parameter.seek(parts, at + 1, taken);
      if (within) return within;
      taken.length = before;
    }
    if (!this.rest || (part === '' && at === parts.length - 1)) return null;
    taken.push(parts.slice(at));
    return this.rest;
  }
}

const decoded = (taken: string | readonly string[]) =>
  typeof taken === 'string' ? decodeURIComponent(taken) : taken.map((part) => decodeURIComponent(part));
