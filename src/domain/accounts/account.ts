import { InvalidRequest } from '../shared/errors.js';
import { atMost } from '../shared/text.js';
import type { Role } from './caller.js';

/** A group of accounts. At most one team is the operator team. */
export interface Team {
  readonly id: string;
  readonly operator: boolean;
  /** The embedding site's key for this team. Null for the operator team. */
  readonly siteKey: string | null;
  readonly createdAt: Date;
}

export interface Account {
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** The hash of the password. Null: the account only uses the site login. */
  readonly passwordHash: string | null;
  readonly emailVerifiedAt: Date | null;
  /** True if the account wants an e-mail when an alert fires. */
  readonly alertEmails: boolean;
  readonly createdAt: Date;
}

export const accountLimits = { name: 100, email: 254, passwordMin: 8, passwordMax: 128 } as const;

/** The fields that a person types. */
export interface Profile {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export const Account = {
  /** Trims the name and the e-mail. Throws InvalidRequest with a finding for each invalid field. */
  profile<Typed extends Partial<Profile>>(typed: Typed): Typed {
    const { name, email } = typed;
    const trimmed = { ...typed, ...(name && { name: name.trim() }), ...(email && { email: email.trim() }) };
    const findings = Object.entries(rules).flatMap(([path, problemOf]) => {
      const text = trimmed[path as keyof Profile];
      const message = text === undefined ? null : problemOf(text);
      return message ? [{ path, message }] : [];
    });
    if (findings.length > 0) throw new InvalidRequest(findings);
    return trimmed;
  },

  verified: (account: Account, at: Date): Account => ({ ...account, emailVerifiedAt: account.emailVerifiedAt ?? at }),

  /** Tells whether an account of the operator team gets alerts by e-mail. */
  isMailedAlerts: ({ alertEmails, emailVerifiedAt, role }: Account): boolean =>
    alertEmails && emailVerifiedAt !== null && role !== 'member',
};

/** Returns a key for an address. The key is the same for every letter case and Unicode form of the address. */
export const emailKey = (email: string): string => email.trim().normalize('NFKC').toLowerCase();

/** Each function returns the message for an invalid text, or null. Findings have the order of this object. */
const rules: Record<keyof Profile, (text: string) => string | null> = {
  name: (text) => {
    if (!within(text, 1, accountLimits.name)) return `must have 1 to ${accountLimits.name} characters`;
    if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)) return 'must have at least one visible character';
    return hasControl(text) ? 'must not contain control characters' : null;
  },
  email: (text) =>
    isEmail(text) ? null : `must be an address such as ada@example.com, ${accountLimits.email} characters at most`,
  password: (text) => {
    const { passwordMin: min, passwordMax: max } = accountLimits;
    return within(text, min, max) ? null : `must have ${min} to ${max} characters`;
  },
};

const within = (text: string, min: number, max: number) => atMost(text, max) && [...text].length >= min;
const hasControl = (text: string) => /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text);
const LOCAL = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN =
  /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(\.[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u;

function isEmail(email: string): boolean {
  const at = email.lastIndexOf('@');
  return (
    at > 0 &&
    within(email, 3, accountLimits.email) &&
    LOCAL.test(email.slice(0, at)) &&
    DOMAIN.test(email.slice(at + 1))
  );
}
