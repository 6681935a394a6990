import { z } from 'zod';
import { Timestamp } from './transcription.ts';

export const SCOPES = ['read', 'uploads:write', 'transcriptions:delete', 'reports:write', 'members:write', 'webhooks:write'] as const;
export type Scope = (typeof SCOPES)[number];
/** They concern the whole workspace: only keys of its owners have them, and no assistant. */
export const OWNER_SCOPES: ReadonlySet<Scope> = new Set(['members:write', 'webhooks:write']);

export const ROLES = ['owner', 'user'] as const;
export type Role = (typeof ROLES)[number];

export const PROJECT_ROLES = ['viewer', 'editor', 'owner'] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

export const PLANS = ['api', 'free'] as const;
export type Plan = (typeof PLANS)[number];

export const Project = z.object({ id: z.uuid(), name: z.string(), created_at: Timestamp }).meta({ id: 'Project' });
export type Project = z.infer<typeof Project>;
export const ProjectList = z.object({ items: z.array(Project), total: z.int() }).meta({ id: 'ProjectList' });

export const Identity = z.object({ provider: z.string(), external_id: z.string() }).meta({ id: 'Identity' });
export type Identity = z.infer<typeof Identity>;
export const Member = z
  .object({ id: z.uuid(), email: z.string(), name: z.string().nullable(), role: z.enum(ROLES), identities: z.array(Identity) })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof Member>;
export const MemberList = z.object({ items: z.array(Member), total: z.int() }).meta({ id: 'MemberList' });

export const WorkspaceInfo = z
  .object({
    workspace: z.object({ id: z.uuid(), name: z.string() }),
    balance: z.object({ available_minutes: z.number() }),
    limits: z.object({
      max_file_size_mb: z.int(),
      concurrency: z.int(),
      max_duration_hours: z.int(),
      reports_per_upload: z.int(),
      reports_per_day: z.int(),
    }),
    key: z.object({ scopes: z.array(z.enum(SCOPES)), expires_at: Timestamp.nullable() }),
  })
  .meta({ id: 'WorkspaceInfo' });
export type WorkspaceInfo = z.infer<typeof WorkspaceInfo>;
