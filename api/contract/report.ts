import { z } from 'zod';

export const TEMPLATE_SCOPES = ['workspace', 'personal'] as const;
export type TemplateScope = (typeof TEMPLATE_SCOPES)[number];

/** 1 to 64 characters: words of a-z and 0-9 joined by single hyphens. */
export const Slug = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/);

export const Template = z
  .object({
    slug: z.string(),
    name: z.string(),
    kind: z.enum(['builtin', 'custom']),
    scope: z.enum(TEMPLATE_SCOPES).nullable(),
    description: z.string().nullable(),
  })
  .meta({ id: 'ReportTemplate' });
export type Template = z.infer<typeof Template>;

export const TemplateList = z.object({ prompts: z.array(Template) }).meta({ id: 'TemplateList' });

/** Converts a name to a slug: `Call review (2)` -> `call-review-2`; empty if nothing is left. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '');
}
