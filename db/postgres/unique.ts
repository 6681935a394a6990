const UNIQUE_VIOLATION = '23505'; // SQLSTATE

/** Unique indexes whose violation is reported to users. */
const INDICES = {
  address: ['members_email'],
  slug: ['templates_workspace_slug', 'templates_personal_slug'],
};

/** Whether a statement failed because another row already has this value. */
export function isTaken(what: keyof typeof INDICES, error: unknown): boolean {
  const { code, constraint = '' } = error as { code?: string; constraint?: string };
  return code === UNIQUE_VIOLATION && INDICES[what].includes(constraint);
}
