declare const contract: unique symbol;

/** A token that names a port at run time and carries its interface at compile time. */
export type Port<T> = symbol & { readonly [contract]: T };

export const port = <T>(name: string): Port<T> => Symbol(name) as Port<T>;
