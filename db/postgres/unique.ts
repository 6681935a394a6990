const UNIQUE_VIOLATION = '23505'; // SQLSTATE

/** What must be unique for people, by the index that keeps it so. */
const INDICES = {
  address: ['members_email'],
  slug: ['templates_workspace_slug', 'templates_personal_slug'],
};

/** Whether a statement failed because this is taken by another row. */
export function isTaken(what: keyof typeof INDICES, error: unknown): boolean {
  const { code, constraint = '' } = error as { code?: string; constraint?: string };
  return code === UNIQUE_VIOLATION && INDICES[what].includes(constraint);
}
