import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Variant } from './build/graph/graph.ts';

export interface ModelFile {
  name: string;
  bytes: number;
  sha256: string;
}

/** What a model's folder holds. Imported models carry it as `manifest.json`; the shipped ones are listed below. */
export interface Manifest {
  /** Also the name of its folder. */
  name: string;
  kind: 'whisper' | 'diarization';
  /**
   * Of Whisper graphs: which of the interfaces of `build/encoder.ts` they have. int8 and int8-7bit: cross-attention keys and values are int8 with
   * scales (`ck cs cv ksc vsc`); float32 and float16: tensors of that type without scales (`ck cv`). All else is equal.
   */
  variant?: Variant;
  /** SPDX expression, or `unknown`. */
  licence: string;
  source: string;
  /** When it was imported, ISO 8601. */
  createdAt?: string;
  files: ModelFile[];
}

/** Holds the folders of the shipped models. */
export const SHIPPED_FOLDER = fileURLToPath(new URL('.', import.meta.url));

const MANIFEST = 'manifest.json';

/** The models that come with the project. A new one is an entry here and a folder of its name. */
export const SHIPPED: readonly Manifest[] = [
  {
    name: 'whisper-base',
    kind: 'whisper',
    variant: 'int8',
    licence: 'MIT',
    source: 'OpenAI Whisper base, multilingual, float16; graphs by models/build',
    files: [
      { name: 'LICENSE', bytes: 1213, sha256: 'f6d6e6ab5464a000fe933730dbc99ae264afe75152a273129e604147e51cd85c' },
      { name: 'config.json', bytes: 1576, sha256: '348f5244dfdaebbc2c7d7a567f80fc67d8ae49b1975cab30c2e8db73f75a1ec1' },
      { name: 'decoder.onnx', bytes: 50365544, sha256: '85a3b688f545714925254e5e6588c0bcd28a033046170b5c9f5b0a8fc4d65644' },
      { name: 'encoder.onnx', bytes: 26727364, sha256: '63018f3ecbf27cee68f401589a4264791d8dd2ac2c23c7df51aeb5d902bd2d1a' },
      { name: 'generation_config.json', bytes: 3638, sha256: 'bcb05795e5724b67bb809ac4ad7feb50d0d28a18a5ab8425be73f1f566fe4b88' },
      { name: 'preprocessor_config.json', bytes: 337, sha256: '85306fb900503f4e848075a3c9635e83d1a56677460d6ec252f971132e9134f3' },
      { name: 'tokenizer.json', bytes: 3930462, sha256: '7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4' },
      { name: 'tokenizer_config.json', bytes: 359, sha256: 'be0f64abb4e6907081c938cc2d9a3832df2a0b4e8f2751a7d26dda8db7f75f2c' },
    ],
  },
  {
    name: 'diarization',
    kind: 'diarization',
    licence: 'MIT AND Apache-2.0',
    source:
      'pyannote segmentation-3.0 (CNRS, MIT) and CAM++ zh-en common advanced (Alibaba DAMO, 3D-Speaker, Apache-2.0), exported to ONNX',
    files: [
      { name: 'LICENSE.campplus', bytes: 13149, sha256: '2a6bf44d4803ecc4e213da09e0053a7cf16a025bfd562f1c60ac7a555cff0cea' },
      { name: 'LICENSE.segmentation', bytes: 1066, sha256: '84aa70e48d0db24a822cb7368d6b829afd8d2b9d803d3119e598487ef4a278eb' },
      { name: 'campplus-zh-en-common.onnx', bytes: 28303555, sha256: 'e0ab0d56bc67b10a04351618414920bd51daf0ace4488431d2b78a9e0dcae3fc' },
      { name: 'segmentation-3.0.onnx', bytes: 5983350, sha256: '871053033f76eacb497fe4d336a6ef071fe4d79c9ec992b87eaf084c0c2a825e' },
    ],
  },
];

/** What the folder of a shipped or imported model should hold. Throws when it is neither. */
export async function manifestOf(folder: string): Promise<Manifest> {
  const shipped = SHIPPED.find((manifest) => resolve(folder) === join(SHIPPED_FOLDER, manifest.name));
  if (shipped) return shipped;
  try {
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest;
    if (!Array.isArray(manifest.files)) throw new Error(`its ${MANIFEST} lists no files`);
    return manifest;
  } catch (cause) {
    throw new Error(`Cannot use ${folder} as a model: it has no ${MANIFEST}; make it with "longhand models import"`, { cause });
  }
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}
