import { defineEntity } from '@mikro-orm/core';
import { index, moment, serial } from './columns.ts';

/* Operators of the installation, and the audit log. */

export const Operator = defineEntity({
  name: 'Operator',
  tableName: 'operators',
  properties: (p) => ({
    email: p.text().primary(),
    createdAt: moment().defaultRaw('now()'),
  }),
});

export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: (p) => ({
    id: serial(),
    workspaceId: p.uuid(),
    at: moment().defaultRaw('now()'),
    actorKind: p.enum(['key', 'token', 'session', 'operator']),
    actorId: p.uuid().nullable(),
    memberId: p.uuid().nullable(),
    action: p.text(),
    targetId: p.text().nullable(),
  }),
  indexes: [index('audit_log_at', 'audit_log', '(at)'), index('audit_log_workspace', 'audit_log', '(workspace_id, id)')],
});
