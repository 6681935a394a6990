/**
 * What the package `pg` is told to connect. Everything in an address counts (`?sslmode=`, `?host=`), and what stands there wins over what is told
 * beside it: so our own words are added to it. MikroORM by itself would take host, account and name of the database, and drop the rest.
 */
export function connectionTo(address: string, name: string, options = '') {
  const url = new URL(address);
  const given = url.searchParams.get('options') ?? '';
  url.searchParams.set('application_name', name);
  if (options) url.searchParams.set('options', `${given} ${options}`.trim());
  return { connectionString: url.href, keepAlive: true };
}
