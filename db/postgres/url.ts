/**
 * Connection options for the `pg` package. Everything in the URL counts (`?sslmode=`, `?host=`) and takes precedence over other options, so
 * our options are added to the URL. MikroORM alone would use its host, account and database and drop the rest.
 */
export function connectionTo(address: string, name: string, options = '') {
  const url = new URL(address);
  const given = url.searchParams.get('options') ?? '';
  url.searchParams.set('application_name', name);
  if (options) url.searchParams.set('options', `${given} ${options}`.trim());
  return { connectionString: url.href, keepAlive: true };
}
