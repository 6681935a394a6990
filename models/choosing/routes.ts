import { type DeviceName, languagesOf } from '../descriptor.ts';
import type { Model } from '../store.ts';
import { checkOf, detectsLanguages } from './choose.ts';
import { fittingModel } from './fit.ts';

/** The ASR models of an engine. */
export interface RoutedModels {
  /** Recognises all languages without a model of their own, and detects the language. */
  resident: Model;
  /** The others. */
  others: Model[];
  /** Name of the other model that recognises a language, by code. */
  routes: Map<string, string>;
  /** Mean word probability below which a model is unsure, by name: less than that of any clip of its self-check. */
  least: Map<string, number>;
}

/**
 * Finds the models of a routing. Throws if one is not installed, with the names of those that are; if one does not recognise its languages;
 * or if the resident model cannot detect languages.
 * @param byLanguage name of the model by language code; those of the resident one are left out of `routes`
 * @param device finds the device for which `auto` chooses
 */
export async function routedModels(
  wanted: string,
  byLanguage: ReadonlyMap<string, string>,
  home: string,
  device?: () => DeviceName | Promise<DeviceName>,
): Promise<RoutedModels> {
  const resident = await fittingModel(wanted, home, undefined, device);
  const routes = new Map<string, string>();
  const others: Model[] = [];
  const least = new Map<string, number>();
  for (const given of new Set(byLanguage.values())) {
    if (given === resident.name) continue;
    const model = await fittingModel(given, home, undefined, device);
    const { name } = model; // `auto` has another
    if (name === resident.name) continue;
    const codes = [...byLanguage].filter(([, own]) => own === given).map(([code]) => code);
    const known = languagesOf(model.descriptor!);
    const unknown = codes.filter((code) => !known.includes(code));
    if (unknown.length) {
      const listed = known.length > 12 ? `${known.slice(0, 12).join(', ')} and ${known.length - 12} more` : known.join(', ');
      throw new Error(`Cannot use ${name} for ${unknown.join(', ')}: it recognises ${listed}; correct LONGHAND_MODELS`);
    }
    for (const code of codes) routes.set(code, name);
    if (!others.some((other) => other.name === name)) others.push(model);
    const confidence = checkOf(model, home)?.leastConfidence;
    if (confidence !== undefined) least.set(name, confidence);
  }
  if (routes.size && !detectsLanguages(resident.descriptor!))
    throw new Error(
      `Cannot choose models by language: ${resident.name} does not detect languages; set * in LONGHAND_MODELS, or LONGHAND_MODEL, to a multilingual Whisper model`,
    );
  return { resident, others, routes, least };
}
