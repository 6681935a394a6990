import t from 'tap';
import { Workspace } from '../../db/entities/workspace.ts';
import { testDatabase } from '../support/database.ts';

const { db } = await testDatabase(t);

t.test('ENTITIES say what the migrated schema says, column by column', async (t) => {
  const found = await db.read<{ place: string; type: string; nullable: boolean }>(
    '*',
    `select c.table_name || '.' || c.column_name as place, format_type(a.atttypid, a.atttypmod) as type, c.is_nullable = 'YES' as nullable
     from information_schema.columns c join pg_attribute a on a.attrelid = c.table_name::regclass and a.attname = c.column_name
     where c.table_schema = current_schema() and c.table_name <> 'longhand_migrations'`,
  );
  const aliases: Record<string, string> = { 'timestamp with time zone': 'timestamptz', int: 'integer', bigserial: 'bigint' };
  const plain = (type: string) => aliases[type.replace(/\(0\)|\(255\)/, '')] ?? type.replace(/\(0\)|\(255\)/, '');
  const schema = Object.fromEntries(found.map((c) => [c.place, `${plain(c.type)}${c.nullable ? ' null' : ''}`]));
  const entities: Record<string, string> = {};
  for (const meta of Object.values(db.orm.getMetadata().getAll())) {
    for (const property of meta.props) {
      entities[`${meta.tableName}.${property.fieldNames[0]}`] = `${plain(property.columnTypes[0]!)}${property.nullable ? ' null' : ''}`;
    }
  }
  t.strictSame(entities, schema);
});

t.test('em works in the transaction of its tx: what it wrote is seen there, and gone when that rolls back', async (t) => {
  await t.rejects(
    db.system(async (tx) => {
      const { em } = tx;
      em.persist(em.create(Workspace, { name: 'through the entity' } as never));
      await em.flush();
      t.match(await tx.rows('select name, concurrency from workspaces'), [{ name: 'through the entity', concurrency: 4 }]);
      throw new Error('back');
    }),
    { message: 'back' },
  );
  t.equal(await db.system((tx) => tx.em.count(Workspace)), 0);
});
