import type { Command } from 'commander';
import { print } from './output.ts';

/** `gpu`: installs, checks and removes the libraries for a GPU. */
export function addGpu(program: Command): void {
  const gpu = program.command('gpu').description('libraries for NVIDIA GPUs: install, check, remove');

  gpu
    .command('install')
    .description('download the matching CUDA provider with CUDA and cuDNN (about 1.5 GB) from the Python package index, and verify it')
    .option('--from <folder>', 'folder with these libraries or their wheels, for machines without internet access')
    .option('--index <url>', 'package index to use instead')
    .option('--no-check', 'do not open a session: for building images without a GPU')
    .option('--json', 'print JSON')
    .action(async ({ from, index, check, json }: { from?: string; index?: string; check: boolean; json?: boolean }) => {
      const [{ install }, { checkGpu }, { useProxy }] = await Promise.all([
        import('../gpu/install.ts'),
        import('../../engine/runtime/gpu.ts'),
        import('./proxy.ts'),
      ]);
      useProxy();
      const files = await install({ from, index, onStage: (line) => void process.stderr.write(`${line}\n`) });
      if (check) report({ files: files.length, ...(await checkGpu()) }, json);
      else print({ files: files.length }, json);
    });

  gpu
    .command('check')
    .description('open a session on the GPU, and report what is missing if that fails')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => report(await (await import('../../engine/runtime/gpu.ts')).checkGpu(), json));

  gpu
    .command('remove')
    .description('undo the installation')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => print({ removed: (await import('../gpu/place.ts')).remove() }, json));
}

function report(result: { usable: boolean; found: string; files?: number }, json: boolean | undefined): void {
  print(result, json);
  if (!result.usable) process.exitCode = 1;
}
