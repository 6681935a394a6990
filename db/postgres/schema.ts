import { MikroORM, PostgreSqlDriver, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { ENTITIES } from './entities/index.ts';
import { type Db, entityMapping } from './orm.ts';
import { connectionTo } from './url.ts';

/** PostgreSQL's default names of constraints. */
class PostgresNames extends UnderscoreNamingStrategy {
  override indexName(table: string, columns: string[], type: 'primary' | 'foreign' | 'unique' | 'index' | 'sequence' | 'check'): string {
    const suffix = { foreign: 'fkey', unique: 'key' }[type as string];
    return suffix ? `${table}_${columns.join('_')}_${suffix}` : super.indexName(table, columns, type);
  }
}

/**
 * SQL that MikroORM's schema generator derives from the entities: the complete schema, and the changes that a database needs to match them.
 */
export async function generateSchema(url: string): Promise<{ create: string; update: string }> {
  const orm = MikroORM.initSync({
    driver: PostgreSqlDriver,
    clientUrl: url,
    driverOptions: { connection: connectionTo(url, 'longhand-schema') },
    entities: ENTITIES,
    namingStrategy: PostgresNames,
    discovery: { disableDynamicFileAccess: true },
    schemaGenerator: { ignoreSchema: ['graphile_worker'], skipTables: ['longhand_migrations'] },
    connect: false,
  });
  try {
    await orm.connect();
    return { create: await orm.schema.getCreateSchemaSQL(), update: await orm.schema.getUpdateSchemaSQL({ wrap: false }) };
  } finally {
    await orm.close(true);
  }
}

/** A column that differs from its entity. Null: it does not exist. */
export interface Difference {
  column: string;
  found: string | null;
  wanted: string | null;
}

const ALIASES: Record<string, string> = { 'timestamp with time zone': 'timestamptz', int: 'integer', bigserial: 'bigint' };

/** Compares the database's columns with the entities: type and nullability. */
export async function compareSchema(db: Db): Promise<Difference[]> {
  const found = await foundColumns(db);
  const wanted = describedColumns();
  const places = [...new Set([...found.keys(), ...wanted.keys()])].sort();
  return places
    .map((column) => ({ column, found: found.get(column) ?? null, wanted: wanted.get(column) ?? null }))
    .filter((each) => each.found !== each.wanted);
}

async function foundColumns(db: Db): Promise<Map<string, string>> {
  const rows = await db.query<{ place: string; type: string; nullable: boolean }>(
    '*',
    `select c.relname || '.' || a.attname as place, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'longhand_migrations'`,
  );
  return new Map(rows.map(({ place, type, nullable }) => [place, shape(type, nullable)]));
}

function describedColumns(): Map<string, string> {
  const entities = Object.values(entityMapping().getMetadata().getAll());
  return new Map(
    entities.flatMap(({ tableName, props }) =>
      props.map((each) => [`${tableName}.${each.fieldNames[0]}`, shape(each.columnTypes[0]!, each.nullable ?? false)]),
    ),
  );
}

/** Removes lengths and precisions in entities that are PostgreSQL's defaults. */
function shape(type: string, nullable: boolean): string {
  const plain = type.replace(/\(0\)|\(255\)/, '');
  return `${ALIASES[plain] ?? plain}${nullable ? ' null' : ''}`;
}
