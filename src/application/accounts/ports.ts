import type { Account, Team } from '../../domain/accounts/account.js';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import type { Credential } from '../../domain/accounts/credential.js';
import type { Invite } from '../../domain/accounts/invite.js';
import type { MailedToken, MailedTokenPurpose } from '../../domain/accounts/mailed-token.js';
import type { Message } from '../../domain/accounts/message.js';

export interface CredentialFilter {
  readonly accountId: string;
  readonly kind: Credential['kind'];
  /** Only those that are not expired then. */
  readonly now: Date;
}

export interface RemovalFilter {
  readonly accountId: string;
  readonly kind: Credential['kind'];
  readonly origins?: readonly Credential['origin'][];
  /** This one stays. */
  readonly except?: string;
}

export abstract class CredentialRepository {
  /** Throws Unauthenticated when the account is gone. */
  abstract add(credential: Credential): Promise<void>;
  /** Who holds the unexpired credential of that digest at `now`, with the account's present team and role, else null. */
  abstract holder(digest: string, now: Date): Promise<AccountCaller | null>;
  /** Of an account, newest first: at most `limit`, those that come after the one with the id `after`. */
  abstract list(filter: CredentialFilter, page?: { limit: number; after: string | null }): Promise<Credential[]>;
  /** Notes that the credential was used, unless that was noted within the last minute. */
  abstract touch(id: string, at: Date): Promise<void>;
  /** Ends the credential at once, in every process; true when there was one. */
  abstract remove(id: string): Promise<boolean>;
  /** As `remove`, but only if the account has such a credential of that kind. */
  abstract removeOwn(filter: Pick<CredentialFilter, 'accountId' | 'kind'>, id: string): Promise<boolean>;
  /** Ends all that the filter meets. */
  abstract removeAll(filter: RemovalFilter): Promise<void>;
}

/** The deployment's master key, if it has one. */
export abstract class MasterKey {
  /** True for the key itself, in a time that tells nothing of how much of it was right; false when none is set. */
  abstract matches(credential: string): boolean;
}

export abstract class AccountRepository {
  /** Throws EmailTaken when another account has the same e-mail key (see `emailKey`). */
  abstract add(account: Account): Promise<void>;
  /** Writes what has changed of a known account. */
  abstract save(account: Account): Promise<void>;
  abstract byId(id: string): Promise<Account | null>;
  /** Finds an account by any spelling of its e-mail. */
  abstract byEmail(email: string): Promise<Account | null>;
  /** Of a team, oldest first. */
  abstract ofTeam(teamId: string): Promise<Account[]>;
  /** Those of a team that ask for alerts by e-mail, oldest first. */
  abstract wantingAlerts(teamId: string): Promise<Account[]>;
  /** Of every team, oldest first: at most `limit`, those that come after the one with the id `after`. */
  abstract all(page: { readonly limit: number; readonly after: string | null }): Promise<Account[]>;
  /** Of the whole deployment. */
  abstract count(): Promise<number>;
  /** Removes the account with all its credentials and mailed tokens, at once and in every process. */
  abstract remove(id: string): Promise<void>;
}

/** The passwords that everybody tries first. */
export abstract class PasswordBlocklist {
  /** Letter case aside. Never true where the deployment does not refuse common passwords. */
  abstract include(password: string): boolean;
}

/**
 * Keeps invites such that a copy of the database alone gives no usable token. Where the service's secret has been lost,
 * an invite is given back with an empty token; whoever has the token can still redeem it.
 */
export abstract class InviteRepository {
  abstract add(invite: Invite): Promise<void>;
  /** Writes what has changed of a known invite. */
  abstract save(invite: Invite): Promise<void>;
  /** Revokes every pending invite that the account has made. */
  abstract revokeAllBy(accountId: string): Promise<void>;
  /** Null for an unknown id, and for an invite of another team. */
  abstract find(teamId: string, id: string): Promise<Invite | null>;
  abstract byDigest(digest: string): Promise<Invite | null>;
  /** Those of a team that are pending and not expired at `now`, newest first. */
  abstract pending(teamId: string, now: Date): Promise<Invite[]>;
}

/** Links for people, always below the service's own base URL and never made from anything that a request says. */
export abstract class PageLinks {
  abstract verifyEmail(token: string): string;
  abstract resetPassword(token: string): string;
  /** Where the API lists the alerts. */
  abstract alerts(): string;
  /** Where it has one of them. */
  abstract alert(id: string): string;
  /** Where the API has one's own account. */
  abstract ownAccount(): string;
}

export abstract class MailedTokenRepository {
  abstract add(token: MailedToken): Promise<void>;
  abstract save(token: MailedToken): Promise<void>;
  abstract byDigest(digest: string): Promise<MailedToken | null>;
  /** How many tokens of an account for that purpose were made after `since`. */
  abstract countSince(accountId: string, purpose: MailedTokenPurpose, since: Date): Promise<number>;
  /** Forgets all tokens of an account for that purpose that nobody has used. */
  abstract removeUnused(accountId: string, purpose: MailedTokenPurpose): Promise<void>;
}

/** Slow on purpose. Throws HashingBusy when too many wait for it. */
export abstract class PasswordHasher {
  /** A salted hash to keep; every character of the password counts, however long it is. */
  abstract hash(password: string): Promise<string>;
  /** Whether the password made the hash. Takes as long for null (nobody's hash), which never matches. */
  abstract matches(password: string, hash: string | null): Promise<boolean>;
}

/** What an embedding site says of one of its users. */
export interface SiteClaims {
  readonly email: string;
  /** Null where the site says nothing of it. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
  /** The team of the site that the user belongs to; null: one of the user's own. */
  readonly team: string | null;
  /** Unique to the token. */
  readonly tokenId: string;
  readonly expiresAt: Date;
}

/** Verifies the signed tokens of an embedding site. */
export abstract class SiteTokenVerifier {
  /** False where no site is set up. */
  abstract readonly enabled: boolean;
  /**
   * The claims of a token that the site signed for this service and that has not expired; throws SiteTokenInvalid for
   * any other. Whether a token was used before is not its concern.
   */
  abstract verify(token: string): Promise<SiteClaims>;
}

/** Remembers which tokens of the embedding site were used, for as long as they could be used again. */
export abstract class SpentSiteTokenRepository {
  /**
   * True the first time for a token id, false ever after, however many ask at once; false for a token that has expired
   * at `now`. Forgets those that have.
   */
  abstract spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean>;
}

export abstract class TeamRepository {
  abstract add(team: Team): Promise<void>;
  abstract byId(id: string): Promise<Team | null>;
  /** The team that runs the deployment; null before the first registration. */
  abstract operator(): Promise<Team | null>;
  /** The team that stands for a team of the embedding site. */
  abstract bySiteKey(siteKey: string): Promise<Team | null>;
}

export abstract class Mailer {
  /**
   * Hands the message over for good and tells where it went, without its content or its links; throws when it could
   * not. `id` becomes the Message-ID, so that a message sent twice can be told.
   */
  abstract send(id: string, message: Message): Promise<string>;
}

export interface OutgoingMail {
  readonly id: string;
  readonly message: Message;
  /** How many deliveries have failed so far. */
  readonly failures: number;
}

/** Mail that waits to be sent. Added within the unit of work that it tells of, so that neither exists without the other. */
export abstract class MailOutbox {
  /** Mails of one `series` can be counted. */
  abstract add(mail: { id: string; message: Message; dueAt: Date; series?: string }): Promise<void>;
  /** The mails of a series that were added with a `dueAt` of `since` or later, delivered or not. */
  abstract countOf(series: string, since: Date): Promise<number>;
  /**
   * The mail that has been due longest, now leased to this caller: nobody else gets it before `leasedUntil`.
   * Null when nothing is due.
   */
  abstract take(now: Date, leasedUntil: Date): Promise<OutgoingMail | null>;
  /** The mail is out: its content is wiped and it is never given again. */
  abstract delivered(id: string, at: Date): Promise<void>;
  /** The delivery failed: the mail is due again at `dueAt`. */
  abstract failed(id: string, dueAt: Date): Promise<void>;
}
