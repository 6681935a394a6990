import { byLanguage } from '../api/contract/routing.ts';
import type { Settings } from '../api/contract/settings.ts';
import { type RoutedModels, routedModels } from '../models/choosing/routes.ts';
import { chooseDevice } from './runtime/gpu.ts';

/** The ASR models of the settings. `auto` prefers models for the GPU if one is requested or usable. Throws as `routedModels` does. */
export function configuredModels(settings: Settings): Promise<RoutedModels> {
  const { LONGHAND_MODEL, LONGHAND_HOME, LONGHAND_DEVICE } = settings;
  return routedModels(LONGHAND_MODEL, byLanguage(settings), LONGHAND_HOME, () => chooseDevice(LONGHAND_DEVICE, ['cuda']));
}
