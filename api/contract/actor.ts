import { ApiError, type ErrorCode, forbidden } from './errors.ts';
import { type Plan, type Role, SCOPES, type Scope } from './workspace.ts';

/* The caller on whose behalf a verb acts: every verb that reads or changes a workspace takes one. It tells who acts, for which member (none
   for the operator) and with which rights. */

/** Common to keys, tokens and sessions: they act for an active member. */
interface InTheNameOfMember {
  workspaceId: string;
  workspaceName: string;
  plan: Plan;
  memberId: string;
  memberEmail: string;
  memberName: string | null;
  role: Role;
  /** Lacks `members:write` unless the member owns the workspace. */
  scopes: ReadonlySet<Scope>;
  expiresAt: Date | null;
}

/** An API key, with the role of the member who created it. */
export interface KeyActor extends InTheNameOfMember {
  kind: 'key';
  keyId: string;
  /** Whether the user of the key is known to be the member: see `vouchesFor`. */
  vouched: boolean;
}

/** An OAuth access token of an AI assistant. */
export interface TokenActor extends InTheNameOfMember {
  kind: 'token';
  tokenId: string;
  /** The resource that it was issued for (RFC 8707); null: issued by the operator. */
  resource: string | null;
}

/** A person signed in to the console. */
export interface SessionActor extends InTheNameOfMember {
  kind: 'session';
  sessionId: string;
  /** The key used to sign in; null: a link or a sign-in provider. */
  openedByKey: string | null;
  /** Whether that key lacks rights that the member has. */
  limited: boolean;
  /**
   * Whether the operator's command line or the sign-in provider has confirmed that this person owns the member's address; an owner's link
   * does not.
   */
  vouched: boolean;
  /** One of the operators of the installation: sees engines, hosts and the load of all workspaces. */
  runsInstallation: boolean;
}

/** The operator on the command line: acts on one workspace with an owner's rights and for no member. */
export interface OperatorActor {
  kind: 'operator';
  workspaceId: string;
  memberId: null;
  role: 'owner';
  scopes: ReadonlySet<Scope>;
}

export type MemberActor = KeyActor | TokenActor | SessionActor;
export type Actor = MemberActor | OperatorActor;

const EVERY_SCOPE: ReadonlySet<Scope> = new Set(SCOPES);

/** The operator acting on this workspace. */
export function operatorOf(workspaceId: string): OperatorActor {
  return { kind: 'operator', workspaceId, memberId: null, role: 'owner', scopes: EVERY_SCOPE };
}

/** The id used for rate limits and quotas: the key, the token, or the signed-in member across sessions. */
export function countedId(actor: MemberActor): string {
  return actor.kind === 'key' ? actor.keyId : actor.kind === 'token' ? actor.tokenId : actor.memberId;
}

/** The key whose revocation also ends what this actor creates; null: none. */
export function causeOf(actor: Actor): string | null {
  return actor.kind === 'session' ? actor.openedByKey : actor.kind === 'key' ? actor.keyId : null;
}

/** Throws 403 with this code (null: without one) if the scope is missing. */
export function requireScope(actor: Actor, scope: Scope, code: ErrorCode | null = null): void {
  if (actor.scopes.has(scope)) return;
  throw code ? new ApiError(code) : forbidden(`This key lacks the permission "${scope}"; create a key with it`);
}

/** Throws 403 for a session opened with a key that lacks some of the member's rights: such a session may do only what scopes allow. */
export function requireFullRights(actor: Actor): void {
  if (actor.kind === 'session' && actor.limited)
    throw forbidden(
      'You signed in with an API key that lacks some of your permissions: sign in with a link or with a key that has every permission',
    );
}

/**
 * Whether credentials that this actor creates for a member can be trusted to be that member's: those created by the operator, and those a
 * confirmed person creates for themselves.
 */
export function vouchesFor(actor: Actor, memberId: string | null): boolean {
  return actor.kind === 'operator' || (actor.kind === 'session' && actor.vouched && actor.memberId === memberId);
}

/** Throws 403 unless the actor has the rights of a workspace owner. */
export function requireOwner(actor: Actor, message = 'Only owners of the workspace may do this'): void {
  if (actor.role !== 'owner') throw forbidden(message);
  requireFullRights(actor);
}

/** Throws 403 unless the actor operates the installation: on its command line, or as an operator in the console. */
export function requireOperator(actor: Actor): void {
  if (actor.kind === 'operator' || (actor.kind === 'session' && actor.runsInstallation)) return;
  throw forbidden('Only operators of the installation may do this; add one with `longhand admin operator add`');
}
