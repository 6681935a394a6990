// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources
import type { Change } from './change.ts';

const OAUTH = ['test/api/mcp/oauth.test.ts', 'test/api/mcp/oauth-tokens.test.ts'];
const KEYS = ['test/api/console/people.test.ts'];
const TENANCY = ['test/api/conformance/part7-tenancy.test.ts'];
const PREDICATES = ['test/db/tenants/predicates.test.ts'];

/** Access control: assistants, keys, workspaces. */
export const ACCESS: Change[] = [
  ['api/console/routes/account.ts', 'hashOf(person ?', 'hashOf(workspace_id ? workspace_id : person ?', ['test/api/console/oidc.test.ts']],
  ['db/access/tokens.ts', 'if (scopes?.some((scope) => !allowed.includes(scope))) return null;', '', OAUTH],
  ['db/access/tokens.ts', 'if (found) await revokeFamily(tx, found.family);', '', OAUTH],
  ['db/access/tokens.ts', "kind: 'refresh', clientId, expiresAt", "kind: 'refresh', expiresAt", OAUTH],
  ['db/access/tokens.ts', 'clientId, expiresAt: { $gt: now() } } as const', 'clientId } as const', OAUTH],
  ['db/access/tokens.ts', "kind: 'refresh', clientId,", 'clientId,', OAUTH],
  ['db/access/tokens.ts', '{ hash: hashOf(token), clientId });', '{ hash: hashOf(token) });', OAUTH],
  ['db/access/tokens.ts', 'found.clientId === clientId && ', '', OAUTH],
  ['db/access/tokens.ts', ' && found.redirectUri === redirectUri', '', OAUTH],
  ['db/access/tokens.ts', ' && found.codeChallenge === challenge', '', OAUTH],
  ['db/access/tokens.ts', '{ hash: found.hash, expiresAt: { $gt: now() } }', '{ hash: found.hash }', OAUTH],
  ['db/access/tokens.ts', 'if (found?.usedAt) await revokeFamily(tx, family);', '', OAUTH],
  ['db/access/tokens.ts', "{ id: memberId, status: 'active' }", '{ id: memberId }', OAUTH],
  ['db/access/tokens.ts', 'if (!found || !(await stands(tx, found))) return null;', 'if (!found) return null;', OAUTH],
  ['db/access/tokens.ts', '|| !(await stands(tx, found))) return null;\n  found', ') return null;\n  found', OAUTH],
  ['db/access/tokens.ts', 'if (revokedAt && !again) {', 'if (false) {', OAUTH],
  ['db/access/sign-in-links.ts', '!(await isKeyInForce(tx, keyId)) || ', ''],
  ['db/access/sign-in-links.ts', "{ id: memberId, status: 'active' }", '{ id: memberId }'],
  ['db/access/sign-in-links.ts', 'return spent ? {', 'return spent !== undefined ? {'],
  ['db/access/grants.ts', '...ownedBy(actor), family, ', 'family, ', ['test/api/console/access.test.ts']],
  ['db/access/keys.ts', "if (reserved && actor.role !== 'owner')", 'if (false)', KEYS],
  ['db/access/keys.ts', "...(role !== 'owner' && { memberId })", '', KEYS],
  ['db/tenants/visibility.ts', '(${owner} or t.author_id', '(true or t.author_id', TENANCY],
  ['db/tenants/visibility.ts', ' or t.creator_id = ${member}', '', ['test/api/conformance/part4-1-author.test.ts']],
  ['db/tenants/visibility.ts', "and pm.role in ('editor', 'owner')", '', TENANCY],
  ['db/webhooks/endpoints.ts', 'nativeDelete(Webhook, { workspaceId: actor.workspaceId, id:', 'nativeDelete(Webhook, { id:', PREDICATES],
  [
    'db/webhooks/endpoints.ts',
    'findOne(Webhook, { workspaceId: actor.workspaceId, id: lookupId(id) })',
    'findOne(Webhook, { id: lookupId(id) })',
    PREDICATES,
  ],
  [
    'db/webhooks/endpoints.ts',
    'nativeUpdate(Delivery, { workspaceId: actor.workspaceId, id: lookupId(id) }',
    'nativeUpdate(Delivery, { id: lookupId(id) }',
    PREDICATES,
  ],
  ['db/webhooks/endpoints.ts', 'count(Webhook, { workspaceId, id })', 'count(Webhook, { id })', PREDICATES],
  ['db/webhooks/endpoints.ts', 'find(Webhook, { workspaceId: actor.workspaceId }', 'find(Webhook, {}', PREDICATES],
  [
    'db/tenants/authors.ts',
    "{ workspaceId, status: 'active', ...named }",
    '{ workspaceId, ...named }',
    ['test/api/conformance/part4-1-author.test.ts'],
  ],
];
