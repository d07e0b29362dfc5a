import type { Account, Team } from '../../domain/accounts/account.js';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import type { Credential } from '../../domain/accounts/credential.js';
import type { Invite } from '../../domain/accounts/invite.js';
import type { MailedToken, MailedTokenPurpose, Message } from '../../domain/accounts/mailed-token.js';
import type { Page } from '../shared/ports.js';

export interface OwnedCredentials {
  readonly accountId: string;
  readonly kind: Credential['kind'];
}

export abstract class CredentialRepository {
  /** Throws Unauthenticated when the account does not exist. */
  abstract add(credential: Credential): Promise<void>;
  /** Returns the account behind an unexpired credential, with the account's present team and role, or null. */
  abstract holder(digest: string, now: Date): Promise<AccountCaller | null>;
  /** Returns the same as `holder` for each of these ids of credentials. Leaves out ids without a holder. */
  abstract holdersById(ids: readonly string[], now: Date): Promise<AccountCaller[]>;
  /** Lists unexpired credentials, newest first. Without `origin`, of every origin. Without `page`, all of them. */
  abstract list(
    filter: OwnedCredentials & { readonly now: Date; readonly origin?: Credential['origin'] },
    page?: Page,
  ): Promise<Credential[]>;
  /** Returns an unexpired credential of the account, or null. */
  abstract find(credential: OwnedCredentials & { readonly id: string }, now: Date): Promise<Credential | null>;
  /**
   * Stores the name and the restrictions of `next`, and returns true if the stored key still has the version of `current`.
   * Among concurrent calls with the same `current`, exactly one returns true.
   */
  abstract replace(current: Credential, next: Credential): Promise<boolean>;
  /** Stores the time of a use of the credential, unless a use within the last minute is stored. */
  abstract touch(id: string, at: Date): Promise<void>;
  /** Ends a credential of the account on every instance at once. Returns false if there is none. */
  abstract remove(credential: OwnedCredentials & { readonly id: string }): Promise<boolean>;
  /** Ends the account's credentials of this kind, or only those of `origins`. Keeps the credential with id `except`. */
  abstract removeAll(
    filter: OwnedCredentials & { readonly origins?: readonly Credential['origin'][]; readonly except?: string },
  ): Promise<void>;
}

/** Knows the master key of the service, if it is set. */
export abstract class MasterKey {
  /** Compares in constant time. Returns false when no key is set. */
  abstract matches(credential: string): boolean;
}

export type AccountChange = Partial<
  Pick<Account, 'name' | 'role' | 'passwordHash' | 'emailVerifiedAt' | 'alertEmails'>
>;

export abstract class AccountRepository {
  /** Throws EmailTaken if another account has the same `emailKey`. */
  abstract add(account: Account): Promise<void>;
  /** Changes the given fields and no others, since another call may change those. Ignores an unknown account. */
  abstract change(id: string, change: AccountChange): Promise<void>;
  abstract byId(id: string): Promise<Account | null>;
  /** Finds an account by its e-mail, in any letter case and Unicode form. */
  abstract byEmail(email: string): Promise<Account | null>;
  /** Lists a team's accounts, oldest first. */
  abstract ofTeam(teamId: string): Promise<Account[]>;
  /** Lists a team's accounts that want alerts by e-mail, oldest first. */
  abstract wantingAlerts(teamId: string): Promise<Account[]>;
  /** Lists the accounts of all teams, oldest first. */
  abstract all(page: Page): Promise<Account[]>;
  /** Counts the accounts of all teams. */
  abstract count(): Promise<number>;
  /** Removes the account with its credentials, mailed tokens and conversations, on every instance at once. */
  abstract remove(id: string): Promise<void>;
}

export abstract class PasswordBlocklist {
  /** Ignores letter case. Returns false if the service does not refuse common passwords. */
  abstract include(password: string): boolean;
}

/**
 * Stores invites. Their tokens are sealed, so that a copy of the database contains no usable link. If an invite was
 * sealed with another service secret, its `token` is empty, but its `digest` still finds it.
 */
export abstract class InviteRepository {
  abstract add(invite: Invite): Promise<void>;
  /** Updates an invite, but never its token. Ignores an unknown invite. */
  abstract save(invite: Invite): Promise<void>;
  /** Revokes every pending invite that the account has made. */
  abstract revokeAllBy(accountId: string): Promise<void>;
  /** Returns null for an unknown id and for an invite of another team. */
  abstract find(teamId: string, id: string): Promise<Invite | null>;
  abstract byDigest(digest: string): Promise<Invite | null>;
  /** Lists a team's invites that are pending and unexpired at `now`, newest first. */
  abstract pending(teamId: string, now: Date): Promise<Invite[]>;
  /** Counts a team's invites that are pending and unexpired at `now`. */
  abstract countPending(teamId: string, now: Date): Promise<number>;
}

/** Makes links for e-mails and alerts. They begin with the service's base URL, and never depend on a request. */
export abstract class PageLinks {
  abstract verifyEmail(token: string): string;
  abstract resetPassword(token: string): string;
  /** Returns the link to the API's list of alerts. */
  abstract alerts(): string;
  abstract alert(id: string): string;
  /** Returns the link to the reader's own account in the API. */
  abstract ownAccount(): string;
}

export abstract class MailedTokenRepository {
  abstract add(token: MailedToken): Promise<void>;
  abstract save(token: MailedToken): Promise<void>;
  abstract byDigest(digest: string): Promise<MailedToken | null>;
  /** Counts the account's tokens of this purpose made after `since`. */
  abstract countSince(accountId: string, purpose: MailedTokenPurpose, since: Date): Promise<number>;
  /** Removes the account's unused tokens of this purpose. */
  abstract removeUnused(accountId: string, purpose: MailedTokenPurpose): Promise<void>;
}

/** Hashes slowly on purpose. Throws HashingBusy when too many calls wait. */
export abstract class PasswordHasher {
  /** Returns a salted hash. Every character of the password counts, also beyond 72 bytes. */
  abstract hash(password: string): Promise<string>;
  /** Tells whether the password matches the hash. A null hash never matches and takes the same time. */
  abstract matches(password: string, hash: string | null): Promise<boolean>;
}

/** An embedding site's statements about one of its users. */
export interface SiteClaims {
  readonly email: string;
  /** True: the site has verified the e-mail. Null: the token does not say it. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
  /** The site's name for the user's team. If null, the user is alone in a new team. */
  readonly team: string | null;
  /** Differs for each token. */
  readonly tokenId: string;
  readonly expiresAt: Date;
}

/** Verifies the signed tokens of an embedding site. */
export abstract class SiteTokenVerifier {
  /** False if no site is set up. */
  abstract readonly enabled: boolean;
  /** Returns the claims of an unexpired token that the site signed for this service. Throws SiteTokenInvalid. */
  abstract verify(token: string): Promise<SiteClaims>;
}

/** Remembers the used tokens of the embedding site until they expire. */
export abstract class SpentSiteTokenRepository {
  /** Returns true for the first call with a token id. Returns false for later calls, and if the token has expired. */
  abstract spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean>;
}

export abstract class TeamRepository {
  abstract add(team: Team): Promise<void>;
  abstract byId(id: string): Promise<Team | null>;
  /** Returns the operator team, or null before the first registration. */
  abstract operator(): Promise<Team | null>;
  /** Returns the team with this key of the embedding site. */
  abstract bySiteKey(siteKey: string): Promise<Team | null>;
}

/** The ways of e-mails: to a mail server, or into a folder of this machine. */
export const mailRoutes = ['smtp', 'outbox'] as const;
export type MailRoute = (typeof mailRoutes)[number];

export abstract class Mailer {
  /** Tells people where to look for their message. */
  abstract readonly route: MailRoute;
  /**
   * Delivers the message or throws. Returns the place of delivery for the log, without content or links. `id` becomes
   * the Message-ID, so that receivers can drop a duplicate.
   */
  abstract send(id: string, message: Message): Promise<string>;
}

/** Seals e-mails, because their links give access to an account. */
export abstract class MailSealer {
  /** Seals a text so that only the same id opens it. */
  abstract seal(text: string, id: string): string;
  /** Throws if the text was sealed with another service secret or for another id. */
  abstract open(sealed: string, id: string): string;
}

export type TokenKind = 'session' | 'api_key' | 'verification' | 'reset' | 'invite';

export interface SecretToken {
  /** The secret itself. Its owner sees it once. */
  readonly token: string;
  /** The hash that is stored instead of the token. */
  readonly digest: string;
  /** The prefix and the end of the token. The owner recognizes the token by this text. */
  readonly hint: string;
}

/**
 * Issues opaque secrets with a readable prefix and a checksum: `tns_` session, `tnk_` API key, `tnv_` verification,
 * `tnr_` reset, `tni_` invite.
 */
export abstract class SecretTokens {
  /** Returns a token with at least 256 random bits. */
  abstract issue(kind: TokenKind): SecretToken;
  /** Returns the kind and the digest of a well-formed token, or null for other text. Reads no database. */
  abstract read(token: string): { readonly kind: TokenKind; readonly digest: string } | null;
}
