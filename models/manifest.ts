import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Variant } from './build/graph/graph.ts';
import { type Architecture, type Descriptor, readDescriptor } from './descriptor.ts';

export interface ModelFile {
  name: string;
  bytes: number;
  sha256: string;
}

/** Lists the files of a model's folder. ASR models list theirs in the descriptor; the diarization models are listed below. */
export interface Manifest {
  /** Also the name of its folder. */
  name: string;
  kind: Architecture | 'diarization';
  /** Number format of an ASR model. */
  variant?: Variant;
  /** SPDX expression, or `unknown`. */
  licence: string;
  source: string;
  /** Time of the import, ISO 8601. */
  createdAt?: string;
  files: ModelFile[];
  /** The descriptor of an ASR model. */
  descriptor?: Descriptor;
}

/** The folder of the shipped models. */
export const SHIPPED_FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** Names of the shipped models, the default first; each is a folder here. */
export const SHIPPED = ['whisper-base', 'diarization'] as const;

/** Shipped folders without a descriptor. */
const LISTED: readonly Manifest[] = [
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

/** The expected files of a shipped or imported model's folder. Throws if it is neither, or of an earlier version. */
export function manifestOf(folder: string): Manifest {
  const listed = LISTED.find((manifest) => resolve(folder) === join(SHIPPED_FOLDER, manifest.name));
  if (listed) return listed;
  const descriptor = readDescriptor(folder);
  const { name, architecture: kind, variant, licence, source, createdAt, files } = descriptor;
  return { name, kind, variant, licence, source, createdAt, files, descriptor };
}
