import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

/** Files of other programs, by how their names end. */
const OTHERS: readonly [end: RegExp, sentence: string][] = [
  [/\.gguf$|(^|\/)ggml-[^/]*\.bin$/, 'it holds a model of whisper.cpp'],
  [/\.(pt|pth|ckpt)$/, 'it holds a checkpoint of PyTorch, a pickle, which can contain programs and is not read'],
];
const CHECKPOINT = "its checkpoint in Hugging Face's layout: a folder with config.json, tokenizer.json and model.safetensors";
const ADAPTER =
  'it is an adapter (LoRA), which is a small part of a model; merge it with its base model, in Python with merge_and_unload() of peft and save_pretrained(), and import the result';

/** The file by which an adapter is known, and the sentence for it. */
export const LORA = { file: 'adapter_config.json', sentence: ADAPTER } as const;

/** A sentence about a known form of a model that is no Whisper checkpoint, with the one to import instead; null if the path holds none. */
export function otherForm(path: string): string | null {
  const instead = (found: string) => `${found}; import ${CHECKPOINT}`;
  const entry = statSync(path, { throwIfNoEntry: false });
  if (!entry) return null;
  if (entry.isFile()) {
    const found = OTHERS.find(([end]) => end.test(path))?.[1];
    if (found) return instead(found);
    const among = /^\.(safetensors|onnx|json|bin)$/.test(extname(path)) ? '; import the folder that it is in' : '';
    return `it is a file, wanted a folder or a .nemo file${among}`;
  }
  const names = readdirSync(path);
  if (!names.includes('config.json')) {
    if (names.includes(LORA.file)) return ADAPTER;
    if (names.includes('snapshots'))
      return "it is a folder of Hugging Face's cache; import the folder in its snapshots that has config.json";
    const found = OTHERS.find(([end]) => names.some((name) => end.test(name)))?.[1];
    return found ? instead(found) : null;
  }
  const isConverted = names.includes('model.bin') && !/"model_type"/.test(readFileSync(join(path, 'config.json'), 'utf8'));
  return isConverted && !existsSync(join(path, 'model.safetensors'))
    ? instead('it holds a model of CTranslate2, as faster-whisper has')
    : null;
}
