import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { transcript } from '../../../bench/speed/measure.ts';
import { openPool } from '../../../engine/runtime/pool.ts';
import { build } from '../../../models/build/whisper/build.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { TALKING, writeCheckpoint } from '../../models/checkpoint.ts';
import { ROOT } from '../../support/processes/processes.ts';

const DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json'; // a Vulkan device in software, from Debian's package chromium-common
const CLIP = join(ROOT, 'bench', 'data', 'clips', 'en_ljspeech_LJ002-0020.wav'); // 1.5 s

const folder = mkdtempSync(join(tmpdir(), 'longhand-webgpu-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** Words with their times that a tiny float32 model returns. */
async function wordsOn(device: 'cpu' | 'webgpu') {
  const pool = await openPool({
    models: { whisper: join(folder, 'model'), diarization: join(SHIPPED_FOLDER, 'diarization') },
    device,
    threads: 1,
  });
  try {
    const { segments } = await transcript(CLIP, pool, { diarize: false });
    return { device: pool.device, words: segments.flatMap(({ words }) => words.map(({ text, start, end }) => ({ text, start, end }))) };
  } finally {
    await pool.close();
  }
}

t.test(
  'openPool() on a WebGPU device transcribes as on the CPU',
  { skip: !existsSync(DRIVER) && `${DRIVER} is not installed` },
  async (t) => {
    Object.assign(process.env, { VK_DRIVER_FILES: DRIVER, XDG_RUNTIME_DIR: folder });
    writeCheckpoint(join(folder, 'checkpoint'), { ...TALKING, sentence: ' the fox.' }, 'F32');
    await build(join(folder, 'checkpoint'), join(folder, 'model'), { variant: 'float32' });
    const [cpu, gpu] = [await wordsOn('cpu'), await wordsOn('webgpu')];
    t.equal(gpu.device, 'webgpu');
    t.ok(cpu.words.length > 0);
    t.strictSame(gpu.words, cpu.words);
  },
);
