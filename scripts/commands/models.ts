import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { VARIANTS, type Variant } from '../../models/build/graph/graph.ts';
import { DECODERS, type Decoder } from '../../models/nemo/decoders.ts';
import { loadSettings } from './environment.ts';
import { hoursPerDay } from './parsers.ts';
import { print } from './output.ts';
import { openBar } from './progress.ts';
import { stopSignal } from './stop.ts';

interface Options {
  name?: string;
  variant?: Variant;
  licence?: string;
  source?: string;
  languages?: string;
  decoder?: Decoder;
  quick?: boolean;
  check: boolean;
  force?: boolean;
  load?: number;
  json?: boolean;
}

const store = () => import('../../models/store.ts');
const shelf = () => import('./models-shelf.ts');

/** `models`: list, download, import, check, verify, build and remove models. */
export function addModels(program: Command): void {
  const models = program.command('models').description('ASR models: list, pull, import, check, verify, build, remove');

  models
    .command('list')
    .description('installed ASR models (for LONGHAND_MODEL), with speed, memory and accuracy as measured on this machine')
    .addOption(
      new Option('--load <hours>', 'also show whether each model can process this load here, such as 200h/day').argParser(hoursPerDay),
    )
    .option('--json', 'print JSON')
    .action(async ({ json, load }: Options) => print(await (await shelf()).table(loadSettings(), load), json));

  making(models.command('pull'))
    .description('download a checkpoint from a model hub, convert and check it: tiny, small, large-v3-turbo, or owner/name[@revision]')
    .argument('<name>')
    .action(async (model: string, options: Options) => {
      const [{ pullModel }, { useProxy }] = await Promise.all([import('../../models/hub/pull.ts'), import('./proxy.ts')]);
      await make(model, options, (making) => {
        useProxy();
        return pullModel(model, { ...making, hub: process.env.HF_ENDPOINT, token: process.env.HF_TOKEN }); // make() has read .env
      });
    });

  making(models.command('import'))
    .description(
      'check and install a local model: a Whisper checkpoint, a CTC or transducer model in the layout of onnx-asr, or a .nemo file of FastConformer; with --variant float16, also an installed int8 Whisper model for GPUs',
    )
    .argument(
      '<path>',
      'a folder with Whisper: config.json, tokenizer.json, model.safetensors or its shards; with others: model.onnx, or encoder-model.onnx with decoder_joint-model.onnx, and vocab.txt, config.json; or a .nemo file, or a folder with one; or the name of an installed model',
    )
    .option('--licence <expression>', 'licence of the model, as an SPDX expression')
    .option('--source <text>', 'origin of the model; required for CC-BY licences, and shown in their attribution')
    .option('--languages <codes>', 'languages of a CTC or transducer model, as ISO codes such as ru,kk')
    .addOption(new Option('--decoder <decoder>', 'decoder of a hybrid .nemo file (default: transducer)').choices(DECODERS))
    .action(importLocal);

  models
    .command('check')
    .description('measure models on this machine: WER in several languages, speed, memory')
    .argument('[name...]', 'default: all')
    .option('--json', 'print JSON')
    .action(async (names: string[], { json }: Options) => {
      const { rows, failed } = await (await shelf()).checkAll(loadSettings(), names);
      print(rows, json);
      if (failed) process.exitCode = 1;
    });

  models
    .command('build')
    .description('build the ONNX files of a checkpoint; for the included checkpoint, identical to the included files')
    .argument('<checkpoint>')
    .argument('<folder>')
    .addOption(new Option('--variant <variant>', 'precision of the weights').choices(VARIANTS).default('int8'))
    .option('--json', 'print JSON')
    .action(async (checkpoint: string, folder: string, { variant, json }: Options) => {
      const [{ build, checkpointSha256 }, { ABOUT, CHECKPOINT }, { readCard }] = await Promise.all([
        import('../../models/build/whisper/build.ts'),
        import('../../models/recipes/whisper-base.ts'),
        import('../../models/published/card.ts'),
      ]);
      const included = (await checkpointSha256(checkpoint)) === CHECKPOINT;
      const about = included ? ABOUT : { licence: readCard(checkpoint).licence };
      print(await build(checkpoint, folder, { variant: variant!, ...about }), json);
    });

  models
    .command('verify')
    .description('verify checksums')
    .argument('[name...]', 'default: all')
    .option('--json', 'print JSON')
    .action(async (names: string[], { json }: Options) => {
      const { verifyAll, verifyModel } = await store();
      const home = loadSettings().LONGHAND_HOME;
      const found = names.length ? [] : await verifyAll(home);
      for (const name of names) found.push({ name, findings: await verifyModel(name, home) });
      const rows = found.map(({ name, findings }) => ({ name, whole: findings.length === 0, findings }));
      print(rows, json);
      if (rows.some((row) => !row.whole)) process.exitCode = 1;
    });

  models
    .command('remove')
    .description('delete an imported model, or the download of a model that could not be installed')
    .argument('<name>', 'of the model, or owner/name of the downloaded repository')
    .option('--json', 'print JSON')
    .action(async (name: string, { json }: Options) => {
      const { removeModel } = await store();
      const settings = loadSettings();
      await removeModel(name, settings.LONGHAND_HOME);
      const used = (await shelf()).settingOf(name, settings);
      if (used)
        process.stderr.write(
          `${used} names ${name}: the service cannot start without it; choose another model there, or install it again\n`,
        );
      print({ name, removed: true }, json);
    });
}

/** Imports whatever a path holds, or converts an installed model of that name. */
async function importLocal(given: string, options: Options): Promise<void> {
  const { licence, source, languages, decoder } = options;
  const [{ isPublished }, { importNemo, nemoFile }, { importModel, isBuilt }, { listModels }] = await Promise.all([
    import('../../models/published/layout.ts'),
    import('../../models/nemo/importing.ts'),
    import('../../models/install/importing.ts'),
    store(),
  ]);
  const installed = existsSync(given) ? [] : await listModels(loadSettings().LONGHAND_HOME);
  const path = installed.find(({ name }) => name === given)?.folder ?? given;
  if (!existsSync(path))
    throw new Error(
      `Cannot import ${given}: it is neither a folder or file here nor an installed model; "longhand models pull" downloads models`,
    );
  const nemo = nemoFile(path);
  const isWhisper = isBuilt(path) || (!nemo && !isPublished(path));
  if (isWhisper && languages !== undefined)
    throw new Error(`Cannot import ${given} with --languages: it is for CTC and transducer models; those of Whisper have their own`);
  if (!nemo && decoder) throw new Error(`Cannot import ${given} with --decoder: it is for hybrid .nemo files`);
  if (isWhisper) {
    return make(path, options, (making) => importModel(path, { ...making, licence, source }));
  }
  const [{ importPublished }, { examine }] = await Promise.all([
    import('../../models/published/importing.ts'),
    import('../../engine/asr/examine.ts'),
  ]);
  const more = { licence, source, languages: languages?.split(',').map((code) => code.trim()), examine };
  await make(path, options, (making) =>
    nemo ? importNemo(nemo, { ...making, ...more, decoder }) : importPublished(path, { ...making, ...more }),
  );
}

/** Options of commands that build a model. */
function making(command: Command): Command {
  return command
    .option('--name <name>', 'name to install the model under')
    .addOption(new Option('--variant <variant>', 'default: the int8 variant suited to this CPU').choices(VARIANTS))
    .option('--quick', 'shorter self-check: no comparison with float32, no search for faster recipes')
    .option('--no-check', 'skip the self-check')
    .option('--force', 'install the model even if it fails the self-check')
    .option('--json', 'print JSON');
}

type Making = Pick<
  import('../../models/install/making.ts').ImportOptions,
  'measure' | 'probe' | 'onProgress' | 'onStage' | 'home' | 'name' | 'variant' | 'signal'
>;
type Made = import('../../models/store.ts').Model;

async function make(
  label: string,
  { json, name, variant, quick, force, check }: Options,
  work: (making: Making) => Promise<Made>,
): Promise<void> {
  const settings = loadSettings();
  const bar = openBar(label);
  const { longestCheck, measureHere, probeHere, summary } = await shelf();
  const more = { name, variant, quick, force };
  const onStage = (stage: string) => void process.stderr.write(`${stage}\n`);
  if (check) onStage(longestCheck(quick, variant));
  const signal = stopSignal();
  try {
    const model = await work({
      ...more,
      home: settings.LONGHAND_HOME,
      measure: check ? measureHere(settings, signal) : undefined,
      probe: probeHere(settings),
      onProgress: bar.to,
      onStage,
      signal,
    });
    print(summary(model), json);
  } finally {
    bar.close();
  }
}
