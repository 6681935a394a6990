import { type Command, Option } from 'commander';
import { VARIANTS, type Variant } from '../../models/build/graph/graph.ts';
import { loadSettings } from './environment.ts';
import { print } from './output.ts';
import { openBar } from './progress.ts';

interface Options {
  name?: string;
  variant?: Variant;
  licence?: string;
  source?: string;
  json?: boolean;
}

const store = () => import('../../models/store.ts');

/** `models`: which there are, new ones from a hub or a folder, their checksums. */
export function addModels(program: Command): void {
  const models = program.command('models').description('recognition models: list, pull, import, verify, remove');
  const variant = () => new Option('--variant <variant>', 'default: the int8 one that is right on this processor').choices(VARIANTS);

  models
    .command('list')
    .description('models that LONGHAND_MODEL may name, and the diarization networks')
    .option('--json', 'print JSON')
    .action(async ({ json }: Options) => {
      const { listModels } = await store();
      const rows = (await listModels(loadSettings().LONGHAND_HOME)).map(({ name, kind, variant, licence, shipped, files, folder }) => ({
        ...{ name, kind, variant: variant ?? null, licence, shipped, folder },
        mb: Math.round(files.reduce((sum, file) => sum + file.bytes, 0) / 1e6),
      }));
      print(rows, json);
    });

  models
    .command('pull')
    .description('download a checkpoint from a model hub and convert it: tiny, small, large-v3-turbo, or owner/name')
    .argument('<name>')
    .option('--name <name>', 'the name it is used by')
    .addOption(variant())
    .option('--json', 'print JSON')
    .action(async (model: string, { json, ...options }: Options) => {
      const { pullModel } = await import('../../models/pull.ts');
      const home = loadSettings().LONGHAND_HOME;
      print(
        shown(
          await withBar(model, (onProgress) =>
            pullModel(model, { ...options, home, hub: process.env.HF_ENDPOINT, token: process.env.HF_TOKEN, onProgress }),
          ),
        ),
        json,
      );
    });

  models
    .command('import')
    .description('convert a Whisper checkpoint folder that was carried in by hand')
    .argument('<folder>', 'config.json, generation_config.json, tokenizer.json, model.safetensors or its shards')
    .option('--name <name>', 'the name it is used by')
    .addOption(variant())
    .option('--licence <expression>', 'SPDX expression')
    .option('--source <text>', 'where the checkpoint came from')
    .option('--json', 'print JSON')
    .action(async (folder: string, { json, ...options }: Options) => {
      const { importModel } = await store();
      const home = loadSettings().LONGHAND_HOME;
      print(shown(await withBar(folder, (onProgress) => importModel(folder, { ...options, home, onProgress }))), json);
    });

  models
    .command('verify')
    .description('read every byte again and compare checksums')
    .argument('[name...]', 'default: all')
    .option('--json', 'print JSON')
    .action(async (names: string[], { json }: Options) => {
      const { listModels, verifyModel } = await store();
      const home = loadSettings().LONGHAND_HOME;
      const chosen = names.length ? names : (await listModels(home)).map(({ name }) => name);
      const rows: { name: string; whole: boolean; findings: string[] }[] = [];
      for (const name of chosen) {
        const findings = await verifyModel(name, home);
        rows.push({ name, whole: findings.length === 0, findings });
      }
      print(rows, json);
      if (rows.some((row) => !row.whole)) process.exitCode = 1;
    });

  models
    .command('remove')
    .description('delete an imported model')
    .argument('<name>')
    .option('--json', 'print JSON')
    .action(async (name: string, { json }: Options) => {
      const { removeModel } = await store();
      await removeModel(name, loadSettings().LONGHAND_HOME);
      print({ name, removed: true }, json);
    });
}

function shown({ name, variant, folder, source }: { name: string; variant?: Variant; folder: string; source: string }) {
  return { name, variant: variant ?? null, folder, source };
}

async function withBar<T>(label: string, work: (onProgress: (fraction: number) => void) => Promise<T>): Promise<T> {
  const bar = openBar(label);
  try {
    return await work(bar.to);
  } finally {
    bar.close();
  }
}
