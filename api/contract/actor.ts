import { ApiError, type ErrorCode, forbidden } from './errors.ts';
import { type Plan, type Role, SCOPES, type Scope } from './workspace.ts';

/*
 * Who acts: every verb that reads or changes something of a workspace is told. An actor says who it is, in whose name it acts (a member, or nobody
 * for the operator) and with which rights.
 */

/** What a key, a token and a session have in common: they act in the name of an active member. */
interface InTheNameOfMember {
  workspaceId: string;
  workspaceName: string;
  plan: Plan;
  memberId: string;
  memberEmail: string;
  memberName: string | null;
  role: Role;
  /** `members:write` is left out when the member does not own the workspace. */
  scopes: ReadonlySet<Scope>;
  expiresAt: Date | null;
}

/** An API key, with the role of the member who made it. */
export interface KeyActor extends InTheNameOfMember {
  kind: 'key';
  keyId: string;
  /** It is to be believed that whoever uses it is the member: see `vouchesFor`. */
  vouched: boolean;
}

/** An OAuth access token of an assistant. */
export interface TokenActor extends InTheNameOfMember {
  kind: 'token';
  tokenId: string;
  /** The resource that it was made for (RFC 8707); null: the operator made it. */
  resource: string | null;
}

/** A person who is signed in to the console. */
export interface SessionActor extends InTheNameOfMember {
  kind: 'session';
  sessionId: string;
  /** The key that opened the session; null: a link or a sign-in provider did. */
  openedByKey: string | null;
  /** That key lacks rights that the member has. */
  limited: boolean;
  /** The operator's command line or the sign-in provider says that this is the person of the member's address; an owner's link does not. */
  vouched: boolean;
  /** One of the people who run the installation: sees engines, hosts and the load of all workspaces. */
  runsInstallation: boolean;
}

/** Whoever runs the installation, on its command line: acts on one workspace with an owner's rights and in nobody's name. */
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

/** The operator at work on this workspace. */
export function operatorOf(workspaceId: string): OperatorActor {
  return { kind: 'operator', workspaceId, memberId: null, role: 'owner', scopes: EVERY_SCOPE };
}

/** The id by which limits count an actor: of the key or token, or of the signed-in member over all sessions. */
export function countedId(actor: MemberActor): string {
  return actor.kind === 'key' ? actor.keyId : actor.kind === 'token' ? actor.tokenId : actor.memberId;
}

/** The key with which all that this actor makes ends; null: none. */
export function causeOf(actor: Actor): string | null {
  return actor.kind === 'session' ? actor.openedByKey : actor.kind === 'key' ? actor.keyId : null;
}

/** Throws 403 with this code (null: without one) when the scope is missing. */
export function requireScope(actor: Actor, scope: Scope, code: ErrorCode | null = null): void {
  if (actor.scopes.has(scope)) return;
  throw code ? new ApiError(code) : forbidden(`This key lacks the permission "${scope}"; create a key with it`);
}

/** Throws 403 for a session whose key lacks some of the member's rights: it does what scopes allow, and nothing else. */
export function requireFullRights(actor: Actor): void {
  if (actor.kind === 'session' && actor.limited)
    throw forbidden('You signed in with an API key that lacks some of your rights: sign in with a link or a key with every scope');
}

/** Whether what this actor makes for a member is to be believed to be that member: what the operator makes, and what such a person makes for themselves. */
export function vouchesFor(actor: Actor, memberId: string | null): boolean {
  return actor.kind === 'operator' || (actor.kind === 'session' && actor.vouched && actor.memberId === memberId);
}

/** Throws 403 unless the actor may do what owners of the workspace may. */
export function requireOwner(actor: Actor, message = 'Only owners of the workspace may do this'): void {
  if (actor.role !== 'owner') throw forbidden(message);
  requireFullRights(actor);
}

/** Throws 403 unless the actor runs the installation: on its command line, or as one of its operators in the console. */
export function requireOperator(actor: Actor): void {
  if (actor.kind === 'operator' || (actor.kind === 'session' && actor.runsInstallation)) return;
  throw forbidden('Only operators of the installation may do this; `longhand admin operator add` makes one');
}
