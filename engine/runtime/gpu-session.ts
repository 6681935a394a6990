import { float32, openSession } from './session.ts';

/** Opens a minimal model, y = -x, on the GPU and runs it. `gpu.ts` starts this in a separate process. */

const NETWORK =
  'CAkSCGxvbmdoYW5kQgQKABASQhEKDWNvbS5taWNyb3NvZnQQATo9ChAKAXgSAXkaAXkiA05lZzoAEgd3aGlzcGVyWg8KAXgSCgoICAESBAoCCAFiDwoBeRIKCggIARIECgIIAQ==';

try {
  const session = await openSession(Buffer.from(NETWORK, 'base64'), { device: 'cuda' });
  const { y } = await session.run({ x: float32(Float32Array.of(2), [1]) });
  process.stdout.write(Number(y!.data[0]) === -2 ? 'opened\n' : 'error: the GPU returned a wrong result\n');
  process.exit(0);
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`);
  process.exit(1);
}
